internal import Glibc

/// A connection with blocking calls, for small programs beside a loop. Never use it on a loop.
public struct BlockingConnection: ~Copyable {
    private let descriptor: Descriptor
    /// The deadline in milliseconds of the monotonic clock.
    private let end: Int

    /// - Parameter limit: milliseconds for all calls on this connection together.
    /// - Throws: `SystemError`; `ETIMEDOUT` if the limit is reached.
    public init(_ address: SocketAddress, withinMilliseconds limit: Int) throws(SystemError) {
        let number = socket(address.family, Int32(SOCK_STREAM.rawValue) | Dialer.closeOnExec, 0)
        guard number >= 0 else { throw SystemError("socket") }
        let descriptor = Descriptor(owning: number)
        let end = Loop.monotonicMilliseconds() + limit
        try Self.allow(limit, number)
        guard address.withSockaddr({ connect(number, $0, $1) }) == 0 else { throw Self.failure("connect") }
        self.descriptor = descriptor
        self.end = end
    }

    /// Connects to a Unix socket.
    public init(path: String, withinMilliseconds limit: Int) throws(SystemError) {
        let descriptor = try LocalSocket.open()
        let end = Loop.monotonicMilliseconds() + limit
        try Self.allow(limit, descriptor.number)
        do throws(SystemError) { try LocalSocket.connect(descriptor, to: path) } catch {
            throw error.code == EAGAIN ? SystemError("connect", code: ETIMEDOUT) : error
        }
        self.descriptor = descriptor
        self.end = end
    }

    /// The local address; nil for a Unix socket.
    public var local: SocketAddress? { SocketAddress.filled { getsockname(descriptor.number, $0, $1) } }

    public func send(_ bytes: [UInt8]) throws(SystemError) {
        var sent = 0
        while sent < bytes.count {
            try allowRest()
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor.number, $0.baseAddress?.advanced(by: sent), $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("send") }
            sent += count
        }
    }

    /// Receives at least one byte; nothing at the end.
    public func receive() throws(SystemError) -> [UInt8] {
        try receive { () throws(SystemError) in try allowRest() }
    }

    /// Receives with a limit of its own in milliseconds, for connections that last.
    public func receive(withinMilliseconds limit: Int) throws(SystemError) -> [UInt8] {
        try receive { () throws(SystemError) in try Self.allow(limit, descriptor.number) }
    }

    private func receive(_ allow: () throws(SystemError) -> Void) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            try allow()
            let count = buffer.withUnsafeMutableBytes { recv(descriptor.number, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("recv") }
            return Array(buffer[..<count])
        }
    }

    private func allowRest() throws(SystemError) {
        let rest = end - Loop.monotonicMilliseconds()
        guard rest > 0 else { throw SystemError("poll", code: ETIMEDOUT) }
        try Self.allow(rest, descriptor.number)
    }

    private static func allow(_ milliseconds: Int, _ number: Int32) throws(SystemError) {
        var time = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            guard setsockopt(number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size)) == 0 else {
                throw SystemError("setsockopt")
            }
        }
    }

    /// the kernel reports a timeout as EAGAIN
    private static func failure(_ call: String) -> SystemError {
        let code = errno
        return SystemError(call, code: code == EAGAIN || code == EINPROGRESS ? ETIMEDOUT : code)
    }
}
