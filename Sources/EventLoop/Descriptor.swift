internal import Glibc

/// A file descriptor that closes itself. Whoever holds this value owns the descriptor.
public struct Descriptor: ~Copyable {
    public let number: Int32

    /// Takes ownership.
    public init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// Sends a few last bytes, as far as the kernel takes them at once. What the peer has sent by then is taken from the
    /// kernel: closed over it, the connection would end in a reset, and the bytes be lost.
    public func sendLast(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        shutdown(number, Int32(SHUT_WR))
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { room in
            for _ in 0..<4 where recv(number, room.baseAddress, room.count, Int32(MSG_DONTWAIT)) < room.count { return }
        }
    }

    /// Gives the descriptor away; it is no longer closed here.
    public consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }
}
