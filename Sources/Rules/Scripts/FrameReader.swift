internal import Formats

/// A frame that breaks the protocol. The connection cannot be read any further.
public struct FrameFault: Error, Equatable, Sendable {
    public let words: String

    public init(words: String) { self.words = words }
}

/// Splits the bytes of a script into frames: the length of a JSON text in decimal, a line feed, the text, and another line feed.
public struct FrameReader: Sendable {
    private var bytes: [UInt8] = []
    /// The start of the first frame that was not returned.
    private var start = 0
    private let limit: Int
    private static let mostDigits = 10

    /// - Parameter limit: the largest JSON text, in bytes.
    public init(limit: Int) { self.limit = limit }

    /// The number of bytes that wait for the rest of their frame.
    public var waiting: Int { bytes.count - start }

    public mutating func append(_ piece: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: piece)
    }

    /// The JSON text of the next frame; nil if it is not complete.
    public mutating func next() throws(FrameFault) -> ArraySlice<UInt8>? {
        guard let (length, head) = try length() else { return nil }
        guard bytes.count - head > length else { return nil }
        guard bytes[head + length] == ASCII.lf else {
            throw FrameFault(words: "a frame of \(length) bytes does not end with a line feed")
        }
        start = head + length + 1
        return bytes[head..<(head + length)]
    }

    /// The length of the next text and its position; nil if they are not complete.
    private func length() throws(FrameFault) -> (length: Int, head: Int)? {
        var length = 0
        for position in start..<bytes.count {
            let byte = bytes[position]
            if byte == ASCII.lf, position > start { return (length, position + 1) }
            guard byte >= 0x30, byte <= 0x39, position - start < Self.mostDigits, position == start || length > 0 else {
                throw FrameFault(words: "a frame begins with its length in decimal and a line feed")
            }
            length = length * 10 + Int(byte - 0x30)
            guard length <= limit else { throw FrameFault(words: "a frame is larger than \(limit) bytes") }
        }
        return nil
    }

    /// Writes a frame.
    public static func frame(_ text: [UInt8]) -> [UInt8] {
        var frame = Array(String(text.count).utf8)
        frame.reserveCapacity(frame.count + text.count + 2)
        frame.append(ASCII.lf)
        frame += text
        frame.append(ASCII.lf)
        return frame
    }
}
