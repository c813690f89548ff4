import Control
import EventLoop

/// Answers at the control socket, on the supervisor's own loop.
final class ControlServer: Listener {
    private let socket: ControlSocket
    private let router: ControlRouter
    private var connections: [ObjectIdentifier: ControlConnection] = [:]
    /// Runs while somebody is there.
    private var sweep: Timer?
    private var isPaused = false

    private static let sweepInterval = 500

    init(_ loop: Loop, _ socket: ControlSocket, _ router: ControlRouter) throws(SystemError) {
        self.socket = socket
        self.router = router
        try super.init(loop: loop, listening: socket.take())
    }

    var path: String { socket.path }

    override func accepted(locally descriptor: consuming Descriptor) {
        guard let connection = try? ControlConnection(self, descriptor) else { return }
        connections[ObjectIdentifier(connection)] = connection
        if sweep == nil {
            sweep = try? Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in look() }
        }
        if connections.count >= ControlLimits.connections { hold() }
    }

    /// What waits is tried again with the next look round; where nobody is there, one is begun for that.
    override func acceptFailed(_ error: SystemError) {
        isPaused = true
        if sweep == nil {
            sweep = try? Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in look() }
        }
    }

    func answer(_ request: ControlRequest) -> ControlAnswer { router.answer(request) }

    func forget(_ connection: ControlConnection) {
        connections[ObjectIdentifier(connection)] = nil
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
        for connection in connections.values where now >= connection.deadline { connection.expire() }
        goOn()
        guard connections.isEmpty, !isPaused else { return }
        sweep?.cancel()
        sweep = nil
    }

    /// Nobody is answered any more, and the file is gone.
    func end() {
        socket.remove()
        sweep?.cancel()
        sweep = nil
        for connection in connections.values { connection.close() }
        connections = [:]
        close()
    }
}
