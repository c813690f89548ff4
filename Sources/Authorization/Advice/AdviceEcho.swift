internal import Formats
internal import HTTPCodec

/// Requests that speak of an advice themselves. A server that hands parts of a request on in a redirect, its query or an
/// address in a parameter, would say with AM's authority what the request's sender wanted to have said.
enum AdviceEcho {
    private static let mark = Array("authindex".utf8)
    private static let parameter = Array("goto".utf8)
    /// The same in a multipart form.
    private static let part = Array("name=\"goto\"".utf8)

    /// How often encoding is taken off; what is encoded deeper comes out of no server as an advice.
    private static let maxDecodings = 3

    /// Whether URL or body name `authIndex…`, anywhere, or have a parameter `goto`, however encoded and in whatever case. Of
    /// `Referer`, where some servers lead back to, only `authIndex…` tells: it names `goto` whenever AM has signed in.
    static func isIn(_ head: RequestHead, body: [UInt8]) -> Bool {
        let target = head.fields.bytes[head.target.pathAndQuery.indices]
        // a path is no list of parameters
        let query = target.drop { $0 != 0x3F }.dropFirst()
        return has(mark, plain(target)) || isIn(query) || isIn(body[...])
            || head.fields.values(named: "Referer").contains { has(mark, plain(Array($0.utf8)[...])) }
    }

    /// Whether a query, or a body as a form, names either.
    private static func isIn(_ pairs: ArraySlice<UInt8>) -> Bool {
        let text = plain(pairs)
        return has(mark, text) || has(part, text)
            || has(parameter, text) { start, end in
                let before = start == 0 ? 0x26 : text[start - 1]
                let after = end == text.count ? 0x3D : text[end]
                return (before == 0x26 || before == 0x3B) && (after == 0x3D || after == 0x26 || after == 0x3B)
            }
    }

    /// In lower case and without encoding.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text = Array(bytes)
        for _ in 0..<maxDecodings where !decode(&text) { break }
        for index in 0..<text.count { text[index] = ASCII.lower(text[index]) }
        return text
    }

    /// Takes percent-encoding, and the escapes of JSON's strings, off once, in place: a body may be large. False where there
    /// is none.
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

    /// How long an escape for one byte is that may begin here, `%41` or `\u0041`; 0 where none does.
    private static func escapeLength(_ text: [UInt8], _ start: Int) -> Int {
        if text[start] == 0x25 { return start + 2 < text.count ? 3 : 0 }
        guard text[start] == 0x5C, start + 5 < text.count, text[start + 1] == 0x75, text[start + 2] == 0x30,
            text[start + 3] == 0x30
        else { return 0 }
        return 6
    }

    /// Whether a word stands in the text, at a place that suits.
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
