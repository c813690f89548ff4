internal import Glibc

/// Spare descriptors, so that essential connections can be accepted when all others are used up.
public struct DescriptorReserve: ~Copyable {
    private var kept: [Int32] = []
    private let most: Int

    /// - Parameter most: the number of spare descriptors.
    public init(_ most: Int) {
        self.most = most
        refill()
    }

    deinit { for number in kept { close(number) } }

    /// Returns one descriptor to the system.
    /// - Returns: false if none is left.
    public mutating func lend() -> Bool {
        guard let number = kept.popLast() else { return false }
        close(number)
        return true
    }

    /// Refills the reserve as far as possible.
    public mutating func refill() {
        while kept.count < most {
            let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { return }
            kept.append(number)
        }
    }
}
