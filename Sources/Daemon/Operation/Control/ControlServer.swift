import Control
import EventLoop
import Glibc

/// Serves one entrance of the admin API on the supervisor's loop.
final class ControlServer: Listener {
    /// A listening address and its access control.
    enum Entrance {
        case socket(ControlSocket)
        case port(ControlPort)
    }

    private let entrance: Entrance
    let router: ControlRouter
    private var connections: [Int: ControlConnection] = [:]
    private var lastNumber = 0
    private let letters: Mailbox<ControlLetter>
    private var port: MailboxPort<ControlLetter>?
    /// Runs while there are connections.
    private var sweep: Timer?
    private var isPaused = false
    /// Proxy clients may use up all descriptors; this reserve keeps the admin API reachable.
    private var reserve = DescriptorReserve(4)

    private static let sweepInterval = 500

    init(_ loop: Loop, _ entrance: Entrance, _ router: ControlRouter) throws(SystemError) {
        self.entrance = entrance
        self.router = router
        letters = try Mailbox()
        switch entrance {
        case .socket(let socket): try super.init(loop: loop, listening: socket.take())
        case .port(let port): try super.init(loop: loop, listening: port.take())
        }
        port = try MailboxPort(loop: loop, letters) { [unowned self] in deliver($0) }
    }

    /// The path of the socket.
    var path: String? { if case .socket(let socket) = entrance { socket.path } else { nil } }

    /// Releases the path for another process, or takes it back.
    func stepAside() { if case .socket(let socket) = entrance { socket.stepAside() } }
    func stepBack() { if case .socket(let socket) = entrance { socket.stepBack() } }

    // MARK: connections

    override func accepted(locally descriptor: consuming Descriptor) {
        let user = LocalSocket.peer(descriptor)
        accept(descriptor) { _ in user == 0 || user == geteuid() ? .owner : .local }
    }

    override func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) {
        guard case .port(let port) = entrance else { return }
        accept(descriptor) { connection in
            let place = connection.localAddress
            return .network(
                .init(
                    address: place?.host ?? "", port: place?.port ?? 0, token: port.token, ownerToken: port.ownerToken))
        }
    }

    private func accept(_ descriptor: consuming Descriptor, _ door: (ControlConnection) -> ControlDoor) {
        if isFull { dispensable?.end() }
        lastNumber += 1
        guard let connection = try? ControlConnection(self, lastNumber, descriptor) else { return }
        connections[lastNumber] = connection
        beginSweep()
        // handle its input before the next connection, which could take its slot
        connection.begin(door(connection))
        if !hasRoom { hold() }
    }

    private var isFull: Bool { connections.count >= ControlLimits.connections }
    private var hasRoom: Bool { !isFull || dispensable != nil }

    /// The connection to close for a new one when all slots are taken: the oldest whose last response is sent, else the oldest
    /// that has not authenticated.
    private var dispensable: ControlConnection? {
        let oldest = connections.values.filter { $0.claim != .shown }
        return oldest.min { ($0.claim.rawValue, $0.number) < ($1.claim.rawValue, $1.number) }
    }

    private func beginSweep() {
        if sweep == nil {
            sweep = try? Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in look() }
        }
    }

    /// Pending connections are accepted at the next sweep, which is started if necessary.
    override func acceptFailed(_ error: SystemError) {
        if reserve.lend() { return resume() }
        isPaused = true
        beginSweep()
    }

    // MARK: requests

    func mayFollow() -> Bool { connections.values.count(where: \.isFollowing) < ControlLimits.followers }

    func mayWait() -> Bool { connections.values.count(where: \.isWaitingLong) < ControlLimits.waiters }

    /// - Parameter isWanted: becomes false when the response is no longer needed.
    func promise(_ connection: Int, turn: Int, _ isWanted: Locked<Bool>) -> ControlPromise {
        ControlPromise(isWanted: { isWanted.withLock { $0 } }) { [letters] in
            letters.post(.answer($0, connection: connection, turn: turn))
        }
    }

    func feed(_ connection: Int) -> ControlFeed {
        ControlFeed { [letters] in letters.post(.events(connection: connection)) }
    }

    private func deliver(_ letter: ControlLetter) {
        switch letter {
        case .answer(let answer, let connection, let turn): connections[connection]?.take(answer, turn: turn)
        case .events(let connection): connections[connection]?.takeEvents()
        }
    }

    // MARK: ends

    func forget(_ connection: ControlConnection) {
        connections[connection.number] = nil
        reserve.refill()
        goOn()
    }

    private func hold() {
        isPaused = true
        pause()
    }

    /// Resumes accepting if there is a free slot.
    func goOn() {
        guard isPaused, hasRoom else { return }
        isPaused = false
        resume()
    }

    private func look() {
        let now = loop.refreshNow()
        for connection in connections.values { connection.look(now) }
        goOn()
        guard connections.isEmpty, !isPaused else { return }
        sweep?.cancel()
        sweep = nil
    }

    /// Stops accepting, because another process does; existing connections stay.
    func retire() {
        // accept pending connections
        ready(Flag.read)
        close()
    }

    /// Closes all connections and removes the socket's file.
    func end() {
        if case .socket(let socket) = entrance { socket.remove() }
        sweep?.cancel()
        sweep = nil
        for connection in connections.values { connection.leave() }
        connections = [:]
        port = nil
        close()
    }
}
