internal import Glibc

/// Descriptors that are kept for when there are no others: what has to be answered then gets one of these.
public struct DescriptorReserve: ~Copyable {
    private var kept: [Int32] = []
    private let most: Int

    /// - Parameter most: how many are kept.
    public init(_ most: Int) {
        self.most = most
        refill()
    }

    deinit { for number in kept { close(number) } }

    /// Gives one back to the system.
    /// - Returns: false where none is left.
    public mutating func lend() -> Bool {
        guard let number = kept.popLast() else { return false }
        close(number)
        return true
    }

    /// Takes as many as are lacking, and as there are.
    public mutating func refill() {
        while kept.count < most {
            let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { return }
            kept.append(number)
        }
    }
}
