import Control
import EventLoop
import Glibc

/// Answers at one door of the interface, on the supervisor's own loop.
final class ControlServer: Listener {
    /// Where one listens, and who may ask there.
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
    /// Runs while somebody is there.
    private var sweep: Timer?
    private var isPaused = false
    /// Clients of the proxy may have taken all descriptors there are: whoever asks why is answered all the same.
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

    /// Where it is spoken to.
    var path: String? { if case .socket(let socket) = entrance { socket.path } else { nil } }

    /// Another process is about to answer at its path, or is not.
    func stepAside() { if case .socket(let socket) = entrance { socket.stepAside() } }
    func stepBack() { if case .socket(let socket) = entrance { socket.stepBack() } }

    // MARK: who comes

    override func accepted(locally descriptor: consuming Descriptor) {
        let user = LocalSocket.peer(descriptor)
        take(descriptor) { _ in user == 0 || user == geteuid() ? .owner : .local }
    }

    override func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) {
        guard case .port(let port) = entrance else { return }
        take(descriptor) { connection in
            let place = connection.localAddress
            return .network(.init(address: place?.host ?? "", port: place?.port ?? 0, token: port.token))
        }
    }

    private func take(_ descriptor: consuming Descriptor, _ door: (ControlConnection) -> ControlDoor) {
        if isFull { dispensable?.end() }
        lastNumber += 1
        guard let connection = try? ControlConnection(self, lastNumber, descriptor) else { return }
        connections[lastNumber] = connection
        beginSweep()
        // what it said already is heard before the next one comes, who might be given its place
        connection.begin(door(connection))
        if !hasRoom { hold() }
    }

    private var isFull: Bool { connections.count >= ControlLimits.connections }
    private var hasRoom: Bool { !isFull || dispensable != nil }

    /// Whose place is given to the next one where all are taken: that of the oldest one who was answered for the last time,
    /// or else who has not shown that it may ask.
    private var dispensable: ControlConnection? {
        let oldest = connections.values.filter { $0.claim != .shown }
        return oldest.min { ($0.claim.rawValue, $0.number) < ($1.claim.rawValue, $1.number) }
    }

    private func beginSweep() {
        if sweep == nil {
            sweep = try? Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in look() }
        }
    }

    /// What waits is tried again with the next look round; where nobody is there, one is begun for that.
    override func acceptFailed(_ error: SystemError) {
        if reserve.lend() { return resume() }
        isPaused = true
        beginSweep()
    }

    // MARK: what is asked

    func mayFollow() -> Bool { connections.values.count(where: \.isFollowing) < ControlLimits.followers }

    func mayWait() -> Bool { connections.values.count(where: \.isWaitingLong) < ControlLimits.waiters }

    /// - Parameter isWanted: is made false where nobody waits for it any more.
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

    // MARK: who goes

    func forget(_ connection: ControlConnection) {
        connections[connection.number] = nil
        reserve.refill()
        goOn()
    }

    private func hold() {
        isPaused = true
        pause()
    }

    /// There may be room for whoever waits.
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

    /// Another process answers whoever comes from here on; who is here stays.
    func retire() {
        // who knocked already
        ready(Flag.read)
        close()
    }

    /// Nobody is answered any more, and the socket's file is gone.
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
