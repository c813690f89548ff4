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

    /// Whether URL or body name `authIndex…`, anywhere, or have a parameter `goto`, however encoded and in whatever case.
    static func isIn(_ head: RequestHead, body: [UInt8]) -> Bool {
        let target = head.fields.bytes[head.target.pathAndQuery.indices]
        return isIn(target.drop { $0 != 0x3F }.dropFirst()) || holds(plain(target), mark) || isIn(body[...])
    }

    /// Whether a query, or a body as a form, names either.
    private static func isIn(_ pairs: ArraySlice<UInt8>) -> Bool {
        let plain = plain(pairs)
        if holds(plain, mark) || holds(plain, part) { return true }
        return plain.split(omittingEmptySubsequences: true) { $0 == 0x26 || $0 == 0x3B }.contains {
            $0.prefix { $0 != 0x3D }.elementsEqual(parameter)
        }
    }

    /// In lower case and without encoding.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text = Array(bytes)
        for _ in 0..<maxDecodings where text.contains(0x25) {
            text = PercentCoding.decodeBytes(text, plusAsSpace: true)
        }
        return text.map(ASCII.lower)
    }

    private static func holds(_ text: [UInt8], _ word: [UInt8]) -> Bool {
        guard text.count >= word.count else { return false }
        return (0...(text.count - word.count)).contains { at in
            text[at] == word[0] && text[at..<(at + word.count)].elementsEqual(word)
        }
    }
}
