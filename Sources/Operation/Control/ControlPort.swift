import Control
import EventLoop

/// The TCP port of the interface, and what who asks there has to show.
final class ControlPort {
    private let tokenNow: () -> ControlToken?
    /// Listens; -1 once it was taken.
    private var number: Int32

    /// - Parameters:
    ///   - joins: another process listens there, which this one follows.
    ///   - token: what counts now; nil where nobody is answered any more.
    init(at address: SocketAddress, joins: Bool = false, token: @escaping () -> ControlToken?) throws(SystemError) {
        tokenNow = token
        var place = address
        // a shared socket would quietly join that of another program: an unshared one asks first
        if !joins { place = try ListeningSocket(address).address }
        number = try ListeningSocket(place, shared: true).take().release()
    }

    deinit { if number >= 0 { _ = Descriptor(owning: number) } }

    /// Nothing is equal to one that is empty.
    var token: ControlToken { tokenNow() ?? ControlToken([]) }

    /// What listens, once.
    func take() -> Descriptor {
        defer { number = -1 }
        return Descriptor(owning: number)
    }
}
