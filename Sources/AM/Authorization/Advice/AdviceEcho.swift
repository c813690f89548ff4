internal import Formats
internal import HTTPCodec

/// Detects requests that contain an advice themselves. A server that copies parts of a request into a redirect would present the
/// sender's text as AM's advice.
enum AdviceEcho {
    private static let mark = Array("authindex".utf8)
    private static let parameter = Array("goto".utf8)
    /// The same parameter in a multipart form.
    private static let part = Array("name=\"goto\"".utf8)

    /// Limit of decoding rounds. No server turns deeper encodings into an advice.
    private static let maxDecodings = 3

    /// Whether the URL or body contains `authIndex…` or a parameter `goto`, in any encoding and case. `Referer` is checked for
    /// `authIndex…` alone: it contains `goto` after every sign-in at AM.
    static func isIn(_ head: RequestHead, body: [UInt8]) -> Bool {
        let target = head.fields.bytes[head.target.pathAndQuery.indices]
        // the path holds no parameters
        let query = target.drop { $0 != 0x3F }.dropFirst()
        return has(mark, plain(target)) || isIn(query) || isIn(body[...])
            || head.fields.values(named: "Referer").contains { has(mark, plain(Array($0.utf8)[...])) }
    }

    /// Whether a query or form body contains either.
    private static func isIn(_ pairs: ArraySlice<UInt8>) -> Bool {
        let text = plain(pairs)
        return has(mark, text) || has(part, text)
            || has(parameter, text) { start, end in
                let before = start == 0 ? 0x26 : text[start - 1]
                let after = end == text.count ? 0x3D : text[end]
                return (before == 0x26 || before == 0x3B) && (after == 0x3D || after == 0x26 || after == 0x3B)
            }
    }

    /// The text in lower case and percent-decoded.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text = Array(bytes)
        for _ in 0..<maxDecodings where !decode(&text) { break }
        for index in 0..<text.count { text[index] = ASCII.lower(text[index]) }
        return text
    }

    /// Removes one level of percent-encoding and of JSON string escapes in place, because a body may be large. Returns false if
    /// there is none.
    private static func decode(_ text: inout [UInt8]) -> Bool {
        guard var write = text.firstIndex(where: { $0 == 0x25 || $0 == 0x5C }) else { return false }
        var read = write
        while read < text.count {
            let length = escapeLength(text, read)
            if length > 0, let high = ASCII.hexValue(text[read + length - 2]),
                let low = ASCII.hexValue(text[read + length - 1])
            {
                text[write] = high << 4 | low
                read += length
            } else {
                text[write] = text[read]
                read += 1
            }
            write += 1
        }
        let isShorter = write < text.count
        text.removeLast(text.count - write)
        return isShorter
    }

    /// The length of the one-byte escape at this position, `%41` or `\u0041`; 0 if there is none.
    private static func escapeLength(_ text: [UInt8], _ start: Int) -> Int {
        if text[start] == 0x25 { return start + 2 < text.count ? 3 : 0 }
        guard text[start] == 0x5C, start + 5 < text.count, text[start + 1] == 0x75, text[start + 2] == 0x30,
            text[start + 3] == 0x30
        else { return 0 }
        return 6
    }

    /// Whether the text contains the word at a position that `suits` accepts.
    private static func has(
        _ word: [UInt8], _ text: [UInt8], where suits: (_ start: Int, _ end: Int) -> Bool = { _, _ in true }
    ) -> Bool {
        let (word, text) = (word.span, text.span)
        guard let first = word.isEmpty ? nil : word[0], text.count >= word.count else { return false }
        for start in 0...(text.count - word.count) where text[start] == first {
            var length = 1
            while length < word.count, text[start &+ length] == word[length] { length &+= 1 }
            if length == word.count, suits(start, start + length) { return true }
        }
        return false
    }
}
