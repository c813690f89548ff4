internal import Formats
public import HTTPCodec
public import Interception

extension AuthorizationServer {
    /// The sessions that a request names in its body, query or path, apart from the cookie.
    static func named(by head: RequestHead, body: [UInt8]) -> Set<String> {
        let forms = [QueryText(head.query ?? ""), QueryText(String(decoding: body, as: UTF8.self))]
        let pairs = forms.flatMap(\.pairs).filter { pair in
            let name = QueryText.name(pair)
            return ["tokenid", "subjectid"].contains { ASCII.equal($0, name) }
        }
        let member = (try? JSONValue(parsing: body))?["tokenId"]?.text
        let told = pairs.map(QueryText.value) + SessionSource.named(by: head) + (member.map { [$0] } ?? [])
        return Set(told).subtracting([""])
    }

    /// All sessions of this server in a request, in every reading. Which one the server uses does not matter.
    /// - Parameter body: empty if it is not buffered whole.
    public func sessions(in head: RequestHead, body: [UInt8]) -> Set<String> {
        let lines = head.fields.values(named: "Cookie").flatMap { Self.values(of: cookie, in: Array($0.utf8)) }
        let fields = head.fields.values(named: cookie).flatMap { Self.readings(of: Array($0.utf8)[...]) }
        return Self.named(by: head, body: body).union(lines + fields)
    }

    /// All values that some reader may take for the cookie, whatever precedes its name, in any case.
    private static func values(of name: String, in line: [UInt8]) -> [String] {
        let name = Array(name.utf8)
        guard !name.isEmpty, line.count > name.count else { return [] }
        return (0..<line.count - name.count).flatMap { start -> [String] in
            guard zip(line[start...], name).allSatisfy({ ASCII.lower($0) == ASCII.lower($1) }) else { return [] }
            let rest = line[(start + name.count)...].drop { $0 == ASCII.space || $0 == ASCII.tab }
            guard rest.first == 0x3D else { return [] }
            return readings(of: rest.dropFirst().prefix { $0 != 0x3B })
        }
    }

    /// The readings of a value: as written, decoded, and truncated at a space, a comma or a quotation mark.
    private static func readings(of value: ArraySlice<UInt8>) -> [String] {
        let isEdge = { (byte: UInt8) in byte <= ASCII.space || byte == 0x22 || byte == 0x2C }
        let core = value.drop(while: isEdge)
        let trimmed = core.prefix((core.lastIndex { !isEdge($0) } ?? core.startIndex - 1) - core.startIndex + 1)
        return [value, trimmed, core.prefix { !isEdge($0) }].flatMap { reading -> [String] in
            let text = String(decoding: reading, as: UTF8.self)
            return [text, PercentCoding.decode(text)]
        }.filter { !$0.isEmpty }
    }
}
