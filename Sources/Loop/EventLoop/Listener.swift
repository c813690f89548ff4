internal import CLibevent
internal import Glibc

/// A listening socket that is not yet on a loop. Each loop may have one on the same address (SO_REUSEPORT); the kernel
/// distributes connections.
public struct ListeningSocket: ~Copyable {
    public let descriptor: Descriptor
    public let address: SocketAddress

    /// - Parameter shared: whether more sockets will be bound to the same address.
    /// - Throws: `SystemError` of `socket`, `bind` or `listen`.
    public init(_ address: SocketAddress, shared: Bool = false) throws(SystemError) {
        let number = socket(
            address.family, Int32(SOCK_STREAM.rawValue) | Dialer.nonBlocking | Dialer.closeOnExec, 0)
        guard number >= 0 else { throw SystemError("socket") }
        let descriptor = Descriptor(owning: number)
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if address.isIPv6 { setsockopt(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
        if shared { setsockopt(number, SOL_SOCKET, SO_REUSEPORT, &on, size) }
        guard address.withSockaddr({ bind(number, $0, $1) }) == 0 else { throw SystemError("bind") }
        guard listen(number, 4096) == 0 else { throw SystemError("listen") }
        self.address = SocketAddress.filled { getsockname(number, $0, $1) } ?? address
        self.descriptor = descriptor
    }

    /// Adopts an open listening socket (systemd's socket activation).
    /// - Throws: `SystemError` if it is no listening stream socket of an IP address.
    public init(adopting number: Int32) throws(SystemError) {
        var listens: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 else {
            throw SystemError("getsockopt")
        }
        guard listens != 0 else { throw SystemError("listen", code: EINVAL) }
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else { throw SystemError("fcntl") }
        guard let address = SocketAddress.filled(by: { getsockname(number, $0, $1) }) else {
            throw SystemError("getsockname", code: EAFNOSUPPORT)
        }
        self.address = address
        descriptor = Descriptor(owning: number)
    }

    public consuming func take() -> Descriptor { descriptor }
}

/// Accepts connections on a loop. Subclasses handle them.
open class Listener: EventSource {
    private let descriptor: Int32
    private var event: EventHandle
    private var isClosed = false
    /// The most connections accepted in one turn, so that a flood does not starve existing ones.
    private static let perTurn = 64

    /// - Parameter owned: a non-blocking listening socket.
    public init(loop: Loop, listening owned: consuming Descriptor) throws(SystemError) {
        descriptor = owned.number
        event = try EventHandle(loop, owned.number, Flag.read | Flag.persist)
        super.init(loop: loop)
        // from here on the object owns the descriptor, also if a later step fails
        _ = owned.release()
        event.point(at: self, loop, descriptor, Flag.read | Flag.persist)
        guard event.add() else { throw SystemError("event_add") }
    }

    deinit {
        guard !isClosed else { return }
        event.remove()
        Glibc.close(descriptor)
    }

    /// Takes an accepted connection: non-blocking, with TCP_NODELAY.
    open func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) {}
    /// Takes a connection of a Unix socket, whose peer has no address.
    open func accepted(locally descriptor: consuming Descriptor) {}
    /// Accepting failed, mostly for want of descriptors or memory. The listener pauses, because waiting connections would
    /// make it ready again at once. `resume` tries again.
    open func acceptFailed(_ error: SystemError) {}

    public final override func ready(_ events: Int16) {
        for _ in 0..<Self.perTurn {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let (number, peer) = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> (Int32, SocketAddress?) in
                    let number = loop.accept(descriptor, address, &length)
                    return (number, number >= 0 ? SocketAddress(address) : nil)
                }
            }
            if number < 0 {
                let error = errno
                if error == EINTR || error == ECONNABORTED { continue }
                if error == EAGAIN || error == EWOULDBLOCK { return }
                pause()
                return acceptFailed(SystemError("accept", code: error))
            }
            let owned = Descriptor(owning: number)
            if let peer {
                Dialer.setNoDelay(number)
                accepted(owned, from: peer)
            } else {
                accepted(locally: owned)
            }
            // closed or paused meanwhile
            if isClosed || !event.isAdded { return }
        }
    }

    /// Pauses accepting, for example at the limit of connections.
    public final func pause() { event.remove() }
    public final func resume() { if !isClosed { _ = event.add() } }

    public final var localAddress: SocketAddress? {
        SocketAddress.filled { getsockname(descriptor, $0, $1) }
    }

    public final func close() {
        guard !isClosed else { return }
        isClosed = true
        event.remove()
        Glibc.close(descriptor)
        loop.deferRelease(self)
    }
}
