import Control
import EventLoop

/// The TCP port of the interface, and what who asks there has to show.
final class ControlPort {
    let address: SocketAddress
    /// A reload may bring another.
    var token: ControlToken
    /// Listens; nil once it was taken.
    private var descriptor: Int32

    init(at address: SocketAddress, _ token: ControlToken) throws(SystemError) {
        let socket = try ListeningSocket(address)
        self.address = socket.address
        self.token = token
        descriptor = socket.take().release()
    }

    deinit { if descriptor >= 0 { _ = Descriptor(owning: descriptor) } }

    /// What listens, once.
    func take() -> Descriptor {
        defer { descriptor = -1 }
        return Descriptor(owning: descriptor)
    }
}
