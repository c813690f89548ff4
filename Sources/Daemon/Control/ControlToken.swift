/// The bearer token for clients by TCP (RFC 6750).
public struct ControlToken: Equatable, Sendable {
    private let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Compares in constant time for guesses of the same length.
    func isEqual(_ given: some Collection<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return false }
        var difference = given.count ^ bytes.count
        var index = 0
        for byte in given {
            difference |= Int(byte ^ bytes[index])
            index &+= 1
            if index == bytes.count { index = 0 }
        }
        return difference == 0
    }
}
