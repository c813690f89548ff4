internal import Glibc

/// A file descriptor that closes itself. Whoever holds this value owns the descriptor.
public struct Descriptor: ~Copyable {
    public let number: Int32

    /// Takes ownership.
    public init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// Sends a few bytes, as far as the kernel takes them at once.
    public func sendOnce(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Gives the descriptor away; it is no longer closed here.
    public consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }
}
