internal import Glibc

/// A file descriptor with an owner. It is closed when the value is destroyed.
public struct Descriptor: ~Copyable {
    public let number: Int32

    /// Takes ownership.
    public init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// Sends a few last bytes, as far as the kernel takes them at once. Received bytes are discarded first: closing over
    /// them would cause a reset and lose the last bytes.
    public func sendLast(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        shutdown(number, Int32(SHUT_WR))
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { room in
            for _ in 0..<4 where recv(number, room.baseAddress, room.count, Int32(MSG_DONTWAIT)) < room.count { return }
        }
    }

    /// Gives up ownership; the descriptor is not closed here.
    public consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }
}
