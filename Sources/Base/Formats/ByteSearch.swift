/// Searches for a byte sequence in linear time (Knuth, Morris and Pratt), for any content.
public struct ByteSearch: Sendable {
    private let wanted: [UInt8]
    /// For each prefix of the pattern, the length of its longest proper suffix that is also a prefix.
    private let shorter: [Int]

    public init(_ wanted: [UInt8]) {
        self.wanted = wanted
        var shorter = [Int](repeating: 0, count: wanted.count + 1)
        var matched = 0
        for index in wanted.indices.dropFirst() {
            while matched > 0, wanted[index] != wanted[matched] { matched = shorter[matched] }
            if wanted[index] == wanted[matched] { matched += 1 }
            shorter[index + 1] = matched
        }
        self.shorter = shorter
    }

    /// Returns the next occurrence at or behind `start`; nil if there is none or the pattern is empty.
    public func next(in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
        guard let first = wanted.first, start >= 0 else { return nil }
        var index = start
        var matched = 0
        while index < bytes.count {
            if matched == 0 {
                index = bytes.first(index, bytes.count) { $0.equal(to: first) }
                guard index < bytes.count else { return nil }
                matched = 1
                index += 1
            } else if bytes[index] == wanted[matched] {
                matched += 1
                index += 1
            } else {
                matched = shorter[matched]
                continue
            }
            if matched == wanted.count { return index - matched }
        }
        return nil
    }
}
