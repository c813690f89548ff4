internal import Glibc

/// A file descriptor that closes itself. Whoever holds this value owns the descriptor.
public struct Descriptor: ~Copyable {
    public let number: Int32

    /// Takes ownership.
    public init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// Gives the descriptor away; it is no longer closed here.
    public consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }
}
