internal import Formats

/// Names of query parameters whose values the log may show.
struct HarmlessNames: Sendable {
    /// Names of things, options and numbers; none identifies a person, a session or a transaction.
    private static let usual = [
        "_action", "_fields", "_pagedresultsoffset", "_pagesize", "_prettyprint", "_queryid", "_sortkeys",
        "_totalpagedresultspolicy", "acr_values", "authindextype", "client_id", "code_challenge_method", "count",
        "display", "forceauth", "format", "grant_type", "lang", "limit", "locale", "max_age", "nosession", "offset",
        "order", "page", "page_size", "pagesize", "per_page", "prompt", "realm", "redirect_uri", "response_mode",
        "response_type", "scope", "service", "size", "sort", "type", "ui_locales", "v", "version",
    ]

    private struct Name: Sendable {
        /// The name in lower case.
        let bytes: [UInt8]
        /// The name's first eight bytes.
        let beginning: ByteWord

        init(_ name: String) {
            bytes = name.utf8.map(ASCII.lower)
            let padded = bytes + [UInt8](repeating: 0, count: ByteWord.count)
            beginning = ByteWord(padded.span, at: 0)
        }
    }

    /// The names, the shortest first.
    private let names: [Name]
    /// The index in `names` of the first name of each length; the last element is the end.
    private let places: [Int]

    /// - Parameter more: the names in `log.show`.
    init(_ more: [String]) {
        let names = (Self.usual + more).map(Name.init).sorted { $0.bytes.count < $1.bytes.count }
        let longest = names.last?.bytes.count ?? 0
        places = (0...longest + 1).map { length in names.firstIndex { $0.bytes.count >= length } ?? names.count }
        self.names = names
    }

    /// - Parameter name: its range in the URL.
    func contains(_ name: Range<Int>, of url: Span<UInt8>) -> Bool {
        // decodes a name with percent-encoding or plus signs
        let encoded = url.near(name.lowerBound, name.upperBound) { $0.equal(to: 0x25) | $0.equal(to: 0x2B) }
        guard encoded < name.upperBound else { return contains(plain: name, of: url) }
        let decoded = url.extracting(name).withUnsafeBufferPointer {
            PercentCoding.decodeBytes($0, plusAsSpace: true)
        }
        return contains(plain: decoded.indices, of: decoded.span)
    }

    /// The same for a name without either.
    func contains(plain name: Range<Int>, of url: Span<UInt8>) -> Bool {
        guard name.count &+ 1 < places.count else { return false }
        var place = places[name.count]
        let end = places[name.count &+ 1]
        guard place < end else { return false }
        let beginning =
            name.lowerBound &+ ByteWord.count <= url.count
            ? ByteWord(url, at: name.lowerBound).lowercased(count: name.count) : Self.beginning(name, of: url)
        while place < end {
            if names[place].beginning == beginning, Self.equal(names[place].bytes, name, of: url) { return true }
            place &+= 1
        }
        return false
    }

    /// The same near the end of the URL, with fewer than eight bytes left.
    private static func beginning(_ name: Range<Int>, of url: Span<UInt8>) -> ByteWord {
        var bytes = InlineArray<8, UInt8>(repeating: 0)
        for place in 0..<min(name.count, ByteWord.count) { bytes[place] = ASCII.lower(url[name.lowerBound + place]) }
        return ByteWord(bytes.span, at: 0)
    }

    private static func equal(_ candidate: [UInt8], _ name: Range<Int>, of url: Span<UInt8>) -> Bool {
        // the first eight bytes already match
        var place = ByteWord.count
        while place < name.count {
            if candidate[place] != ASCII.lower(url[name.lowerBound &+ place]) { return false }
            place &+= 1
        }
        return true
    }
}
