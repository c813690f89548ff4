internal import Glibc

/// Opens non-blocking connections.
public enum Dialer {
    /// Starts to connect.
    /// - Returns: the descriptor, and whether the connection is still in progress.
    /// - Throws: `SystemError` of `socket` or `connect`.
    public static func connect(_ address: SocketAddress, on loop: Loop) throws(SystemError) -> Attempt {
        let number = loop.openSocket(address.family)
        guard number >= 0 else { throw SystemError("socket") }
        let descriptor = Descriptor(owning: number)
        setNoDelay(number)
        if loop.connect(number, address) == 0 {
            return Attempt(descriptor: descriptor, inProgress: false)
        }
        let error = errno
        guard error == EINPROGRESS || error == EINTR else { throw SystemError("connect", code: error) }
        return Attempt(descriptor: descriptor, inProgress: true)
    }

    public struct Attempt: ~Copyable {
        public var descriptor: Descriptor
        public var inProgress: Bool

        /// Returns the descriptor to its new owner.
        public consuming func take() -> Descriptor { descriptor }
    }

    static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)

    static func setNoDelay(_ number: Int32) {
        var on: Int32 = 1
        setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
