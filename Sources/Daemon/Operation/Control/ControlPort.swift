import Control
import EventLoop

/// The TCP port of the admin API, and its token.
final class ControlPort {
    private let tokenNow: () -> ControlToken?
    /// The token of the owner, at the port of the page.
    let ownerToken: ControlToken?
    /// The listening descriptor; -1 after it was taken.
    private var number: Int32

    /// - Parameters:
    ///   - joins: true to share the address with another process, which this one replaces.
    ///   - token: the current token; nil if no requests are accepted any more.
    init(
        at address: SocketAddress, joins: Bool = false, ownerToken: ControlToken? = nil,
        token: @escaping () -> ControlToken?
    ) throws(SystemError) {
        tokenNow = token
        self.ownerToken = ownerToken
        var place = address
        // a shared socket would silently join that of another program, so an unshared one tests the address first
        if !joins { place = try ListeningSocket(address).address }
        number = try ListeningSocket(place, shared: true).take().release()
    }

    deinit { if number >= 0 { _ = Descriptor(owning: number) } }

    /// No token matches an empty one.
    var token: ControlToken { tokenNow() ?? ControlToken([]) }

    /// The listening descriptor, once.
    func take() -> Descriptor {
        defer { number = -1 }
        return Descriptor(owning: number)
    }
}
