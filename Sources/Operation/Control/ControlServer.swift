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
            .network(.init(address: connection.localAddress?.host ?? "", token: port.token))
        }
    }

    private func take(_ descriptor: consuming Descriptor, _ door: (ControlConnection) -> ControlDoor) {
        lastNumber += 1
        guard let connection = try? ControlConnection(self, lastNumber, descriptor) else { return }
        connection.begin(door(connection))
        connections[lastNumber] = connection
        beginSweep()
        if connections.count >= ControlLimits.connections { hold() }
    }

    private func beginSweep() {
        if sweep == nil {
            sweep = try? Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in look() }
        }
    }

    /// What waits is tried again with the next look round; where nobody is there, one is begun for that.
    override func acceptFailed(_ error: SystemError) {
        isPaused = true
        beginSweep()
    }

    // MARK: what is asked

    func mayFollow() -> Bool { connections.values.count(where: \.isFollowing) < ControlLimits.followers }

    func promise(_ connection: Int, turn: Int) -> ControlPromise {
        ControlPromise { [letters] in letters.post(.answer($0, connection: connection, turn: turn)) }
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
        goOn()
    }

    private func hold() {
        isPaused = true
        pause()
    }

    private func goOn() {
        guard isPaused, connections.count < ControlLimits.connections else { return }
        isPaused = false
        resume()
    }

    private func look() {
        let now = loop.refreshNow()
        let isFull = connections.count >= ControlLimits.connections
        for connection in connections.values { connection.look(now, othersWait: isFull) }
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
