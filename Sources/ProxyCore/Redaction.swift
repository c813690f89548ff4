public import HTTPCodec
internal import Interception

/// Keeps secrets out of what is recorded (docs/protocol.md#what-is-secret). The one place that decides what of a URL, a tree or a
/// sentence may stand in a log.
public struct Redaction: Sendable {
    private let harmless: HarmlessNames
    private let secrets: SecretTexts

    /// Longer names and values are none that anybody gave to a parameter of those sorts.
    private static let longestName = 64
    private static let longestValue = 128

    /// Bytes of what a reference was filled in with, from which on it is looked for.
    public static var shortestSecret: Int { SecretTexts.shortest }

    public init(_ settings: Settings) {
        harmless = HarmlessNames(settings.shownParameters)
        secrets = SecretTexts(settings.secrets)
    }

    // MARK: words

    /// A sentence, or what else was put together here, without what references of the configuration were filled in with.
    public func text(_ text: String) -> String {
        guard !secrets.isEmpty else { return text }
        var bytes = Array(text.utf8)
        secrets.remove(from: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The strings of a document, likewise.
    public func document(_ value: JSONValue) -> JSONValue {
        guard !secrets.isEmpty else { return value }
        return switch value {
        case .string(let string): .string(text(string))
        case .array(let items): .array(items.map(document))
        case .object(let members): .object(members.map { .init($0.name, document($0.value)) })
        case .null, .bool, .number: value
        }
    }

    /// A tree as a client named it: an advice is a whole document in its place, and whatever is no name may be anything.
    func tree(_ payload: ActionPayload?) -> String? {
        guard let tree = payload?.tree else { return nil }
        if let type = payload?.type, ASCII.equal(type, "composite_advice") { return "composite_advice" }
        return name(tree)
    }

    /// A realm as a client named it, in the path or as a parameter.
    func realm(_ realm: String?) -> String? { realm.map(name) }

    private func name(_ text: String) -> String {
        let isName =
            text.utf8.count <= Self.longestName
            && text.utf8.allSatisfy { ASCII.isUnreserved($0) || $0 == ASCII.space || $0 == 0x2F || $0 == ASCII.colon }
        return isName ? self.text(text) : SecretTexts.replacement.description
    }

    // MARK: URLs

    /// A URL of Usher's own calls.
    func url(of head: borrowing RequestHead) -> String {
        var out: [UInt8] = []
        appendURL(of: head, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the request's URL as the client asked for it, in ASCII. Values of parameters are shown under harmless
    /// names alone.
    func appendURL(of head: borrowing RequestHead, to out: inout [UInt8]) {
        let target = head.target
        let start = out.count
        head.fields.bytes.withUnsafeBufferPointer { bytes in
            func part(_ range: ByteRange) -> Slice<UnsafeBufferPointer<UInt8>> { bytes[range.indices] }
            if target.form == .authority { return Self.append(part(target.authority), to: &out) }
            out.append(literal: target.scheme == .http ? "http://" : "https://")
            Self.append(part(target.authority), to: &out)
            appendPath(part(target.path), to: &out)
            guard let query = target.query else { return }
            out.append(0x3F)
            appendParameters(part(query), to: &out)
        }
        secrets.remove(from: &out, behind: start)
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// What stands behind a semicolon is a parameter here as well (RFC 3986 §3.3). What stands below `sessions` names one:
    /// AM's own endpoint for them has the token there.
    private func appendPath(_ path: Bytes, to out: inout [UInt8]) {
        let bytes = UnsafeBufferPointer(rebasing: path)
        guard bytes.contains(0x3B) || Self.namesSession(bytes) else { return Self.append(path, to: &out) }
        var isFirst = true
        var isSession = false
        for segment in path.split(separator: 0x2F, omittingEmptySubsequences: false) {
            if !isFirst { out.append(0x2F) }
            isFirst = false
            let name = segment.prefix { $0 != 0x3B }
            if isSession, !name.isEmpty {
                out.append(literal: SecretTexts.replacement)
            } else {
                Self.append(name, to: &out)
            }
            isSession = name.elementsEqual(Self.sessions)
            guard name.endIndex < segment.endIndex else { continue }
            out.append(0x3B)
            appendParameters(segment[segment.index(after: name.endIndex)...], to: &out)
        }
    }

    private static let sessions = Array("sessions".utf8)

    private static func namesSession(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        var place = 0
        // a slash, the word, a slash and something behind it
        while path.count - place > sessions.count + 2 {
            if path[place] == 0x2F, path[place + 1] == 0x73, path[place + 1 + sessions.count] == 0x2F,
                path[(place + 1)..<(place + 1 + sessions.count)].elementsEqual(sessions)
            {
                return true
            }
            place += 1
        }
        return false
    }

    private func appendParameters(_ query: Bytes, to out: inout [UInt8]) {
        var start = query.startIndex
        while start <= query.endIndex {
            var end = start
            while end < query.endIndex, query[end] != 0x26, query[end] != 0x3B { end += 1 }
            appendParameter(query[start..<end], to: &out)
            if end < query.endIndex { out.append(query[end]) }
            start = end + 1
        }
    }

    private func appendParameter(_ pair: Bytes, to out: inout [UInt8]) {
        guard !pair.isEmpty else { return }
        let name = pair.prefix { $0 != 0x3D }
        let isHarmless = harmless.contains(name)
        let value = pair[name.endIndex...].dropFirst()
        // a token of base64 ends in such signs, and some programs put one behind whatever has none
        let isBare = value.allSatisfy { $0 == 0x3D }
        if isHarmless || !isBare && Self.isName(name) {
            Self.append(name, to: &out)
        } else if !name.isEmpty {
            out.append(literal: SecretTexts.replacement)
        }
        if name.endIndex < pair.endIndex { out.append(0x3D) }
        guard !value.isEmpty else { return }
        guard isHarmless, value.count <= Self.longestValue else { return out.append(literal: SecretTexts.replacement) }
        let open = Self.open(value)
        Self.append(open, to: &out)
        if open.endIndex < value.endIndex { out.append(literal: SecretTexts.replacement) }
    }

    /// Whether it is written as names of parameters are, percent-encoded or not: free text and documents are none.
    private static func isName(_ name: Bytes) -> Bool {
        guard name.count <= longestName else { return false }
        var index = name.startIndex
        while index < name.endIndex {
            var byte = name[index]
            index += 1
            if byte == 0x25, index + 1 < name.endIndex, let high = ASCII.hexValue(name[index]),
                let low = ASCII.hexValue(name[index + 1])
            {
                byte = high << 4 | low
                index += 2
            }
            switch byte {
            case 0x24, 0x3A, 0x40, 0x5B, 0x5D: continue
            default: guard ASCII.isUnreserved(byte) else { return false }
            }
        }
        return true
    }

    /// As much of a harmless value as is harmless: a URL in it has a query and a fragment of its own, encoded or not,
    /// and may have a user before an @.
    private static func open(_ value: Bytes) -> Bytes {
        var index = value.startIndex
        var end: Int?
        while index < value.endIndex {
            var byte = value[index]
            var next = index + 1
            if byte == 0x25, index + 2 < value.endIndex, let high = ASCII.hexValue(value[index + 1]),
                let low = ASCII.hexValue(value[index + 2])
            {
                byte = high << 4 | low
                next = index + 3
            }
            switch byte {
            case 0x40: return value[value.startIndex..<value.startIndex]
            case 0x3F, 0x23, 0x26, 0x3B, 0x3D, 0x25: end = end ?? index
            default: break
            }
            index = next
        }
        return value[..<(end ?? value.endIndex)]
    }

    /// What is no printable ASCII is percent-encoded, so that every line of a log is UTF-8 whatever a client sends.
    private static func append(_ part: Bytes, to out: inout [UInt8]) {
        let bytes = UnsafeBufferPointer(rebasing: part)
        // what needs no change goes out in runs
        var start = 0
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            if byte <= 0x20 || byte >= 0x7F {
                out.append(contentsOf: bytes[start..<place])
                out.append(0x25)
                out.append(PercentCoding.hexDigit(byte >> 4))
                out.append(PercentCoding.hexDigit(byte & 15))
                start = place + 1
            }
            place += 1
        }
        out.append(contentsOf: bytes[start..<place])
    }
}
