internal import Addresses
internal import Declaration
internal import Formats
internal import Interception

/// Parses the terms of a filter: a key of `when` or of a flow, and values.
struct FlowFilterReader {
    enum Reading {
        case term(FlowFilter.Term)
        case calls(Calls)
    }

    enum Calls: String, CaseIterable {
        case no, yes, only
    }

    /// Milliseconds since 1970.
    let now: Int
    /// Keys that the caller reads itself.
    let others: [String]

    /// The keys that compare a text, with the part that contains it.
    private static let parts: [(key: String, part: FlowPart)] = [
        ("tree", .tree), ("type", .type), ("realm", .realm), ("method", .method),
        ("user", .user), ("error", .proxyError),
    ]

    static let keys = FlowFilterKey.all.map(\.name)

    private static let named = ["header", "query", "cookie"]

    func term(_ text: Substring) throws(FlowFilter.Fault) -> Reading {
        guard let equals = text.utf8.firstIndex(of: 0x3D) else {
            throw .init("\"\(Self.quoted(text))\" is not a filter; write key=value, as in status=4xx")
        }
        var key = text[..<equals]
        let value = text[text.utf8.index(after: equals)...]
        let isNegated = key.hasSuffix("!")
        if isNegated { key = key.dropLast() }
        guard !value.isEmpty else {
            throw .init("\(Self.quoted(key)) has no value; * asks for any")
        }
        if key == "calls" {
            guard !isNegated, let calls = Calls(rawValue: String(value)) else {
                throw .init("calls takes yes, no or only, found \"\(Self.quoted(value))\"")
            }
            return .calls(calls)
        }
        return .term(.init(test: try test(String(key), value), isNegated: isNegated))
    }

    private func test(_ key: String, _ value: Substring) throws(FlowFilter.Fault) -> FlowTest {
        if let part = Self.parts.first(where: { $0.key == key })?.part {
            return .part(part, try Self.matchers(key, value))
        }
        switch key {
        case "action": return .part(.action, try Self.matchers(key, value, Self.action))
        case "session": return .part(.session, try Self.matchers(key, value, Self.session))
        case "client": return .client(try Self.matchers(key, value))
        case "platform": return .header(Array("x-requested-platform".utf8), try Self.matchers(key, value))
        case "scheme": return .scheme(try Self.matchers(key, value, ignoringCase: true, Self.scheme))
        case "host":
            return .part(
                .authority, try Self.matchers(key, value, ignoringCase: true) { .exact(HostName.normalized($0)) })
        case "port": return .port(try Self.matchers(key, value, Self.port))
        case "path": return .path(try Self.matchers(key, value, Self.path))
        case "status": return .status(try Self.matchers(key, value, Self.status))
        case "content_type": return .contentType(try Self.matchers(key, value, ignoringCase: true))
        case "flow": return .id(.id, try Self.ids(key, value))
        case "parent":
            if value == "*" { return .hasParent }
            return .id(.parent, try Self.ids(key, value))
        case "slower": return .slower(try Self.number(key, value, Units.times, "a duration, as in 200ms or 2s"))
        case "larger": return .larger(try Self.number(key, value, Units.sizes, "a size, as in 512B or 10KiB"))
        case "since": return .began(try time(key, value)...Int.max)
        case "until": return .began(Int.min...(try time(key, value)))
        case "changed":
            return .flagged(
                try Self.choice(
                    key, value,
                    [
                        "yes": [.requestEdited, .responseEdited], "request": .requestEdited,
                        "response": .responseEdited,
                    ]))
        case "interceptor": return .interceptor(try Self.matchers(key, value))
        case "did": return .deed(try Self.matchers(key, value, Self.deed))
        case "step_up": return .flagged(try Self.choice(key, value, ["yes": .steppedUp]))
        default: return try named(key, value)
        }
    }

    private func named(_ key: String, _ value: Substring) throws(FlowFilter.Fault) -> FlowTest {
        let dot = key.utf8.firstIndex(of: 0x2E) ?? key.endIndex
        let kind = String(key[..<dot])
        guard Self.named.contains(kind) else {
            let keys = Self.keys + others
            let nearest =
                Nearest.name(to: dot == key.endIndex ? kind : "\(kind).", among: keys).map { "; did you mean \($0)?" }
                ?? ""
            throw .init(
                "\"\(Self.quoted(key[...]))\" is not a key of a filter\(nearest) (there are \(keys.sorted().joined(separator: ", ")))"
            )
        }
        let name = dot == key.endIndex ? [] : Array(key.utf8[key.utf8.index(after: dot)...])
        guard !name.isEmpty else { throw .init("\(kind) takes a name: \(kind).NAME=value") }
        let matchers = try Self.matchers(key, value)
        return switch kind {
        case "header": .header(name.map(ASCII.lower), matchers)
        case "query": .query(name, matchers)
        default: .cookie(name, matchers)
        }
    }

    // MARK: values

    /// A name, which is of use only while the session is open, would match nothing.
    private static func session(_ value: String) throws(FlowFilter.Fault) -> TextMatcher {
        guard value.hasPrefix("s-") else {
            throw .init(
                "session takes the id of a test session, such as s-4f2a, found \"\(quoted(value[...]))\"; usher session list "
                    + "shows the ids")
        }
        return .exact(value)
    }

    /// Parses values separated by commas: exact, a glob, or a regular expression, which extends to the end.
    static func matchers(
        _ key: String, _ text: Substring, ignoringCase: Bool = false,
        _ exact: (String) throws(FlowFilter.Fault) -> TextMatcher = { .exact($0) }
    ) throws(FlowFilter.Fault) -> [Matcher] {
        var matchers: [Matcher] = []
        for value in Self.values(text) {
            let matcher: TextMatcher
            if value.hasPrefix("~") {
                matcher = .pattern(try Self.pattern(key, String(value.dropFirst())))
            } else if Glob.isGlob(value) {
                matcher = .glob(value)
            } else {
                matcher = try exact(value)
            }
            matchers.append(Matcher(matcher, ignoringCase: ignoringCase))
        }
        return matchers
    }

    private static func values(_ text: Substring) -> [String] {
        var values: [String] = []
        var rest = text
        while true {
            guard !rest.hasPrefix("~"), let comma = rest.utf8.firstIndex(of: 0x2C) else {
                return values + [String(rest)]
            }
            values.append(String(rest[..<comma]))
            rest = rest[rest.utf8.index(after: comma)...]
        }
    }

    private static func pattern(_ key: String, _ text: String) throws(FlowFilter.Fault) -> Pattern {
        let pattern: Pattern
        do throws(PatternFault) { pattern = try Pattern(text, place: "filter \(key)") } catch {
            throw .init("\(key): the text after ~ is not a valid regular expression: \(error.description)")
        }
        // the pattern is matched against very many flows
        guard PatternProbe.limit(of: pattern) == nil else {
            throw .init(
                "\(key): some texts take this pattern to its limit; avoid nested repeats such as (a+)+, and begin with ^"
            )
        }
        return pattern
    }

    private static func action(_ text: String) throws(FlowFilter.Fault) -> TextMatcher {
        .exact(Action(named: text).rawValue)
    }

    private static func deed(_ text: String) throws(FlowFilter.Fault) -> TextMatcher {
        guard Deed(rawValue: text) == nil else { return .exact(text) }
        let names = Deed.allCases.map(\.rawValue)
        let nearest = Nearest.name(to: text, among: names).map { "; did you mean \($0)?" } ?? ""
        throw .init(
            "did takes what an interceptor does, found \"\(quoted(text[...]))\"\(nearest) (there are \(names.joined(separator: ", ")))"
        )
    }

    private static func status(_ text: String) throws(FlowFilter.Fault) -> TextMatcher {
        switch TextMatcher(status: text) {
        case .exact(let text)?: .range((Int(text) ?? 0)...(Int(text) ?? 0))
        case let matcher?: matcher
        case nil: throw .init("status takes a status such as 401, 5xx or 400-499, found \"\(quoted(text[...]))\"")
        }
    }

    private static func scheme(_ text: String) throws(FlowFilter.Fault) -> TextMatcher {
        guard ["http", "https"].contains(ASCII.lowercased(text)) else {
            throw .init("scheme takes http or https, found \"\(quoted(text[...]))\"")
        }
        return .exact(text)
    }

    private static func port(_ text: String) throws(FlowFilter.Fault) -> TextMatcher {
        guard text.utf8.allSatisfy(ASCII.isDigit), let port = Int(text), (1...65535).contains(port) else {
            throw .init("port takes a number from 1 to 65535, found \"\(quoted(text[...]))\"")
        }
        return .range(port...port)
    }

    private static func path(_ text: String) throws(FlowFilter.Fault) -> TextMatcher {
        guard text.hasPrefix("/") else { throw .init("path begins with /, found \"\(quoted(text[...]))\"") }
        guard !text.utf8.contains(0x3F) else {
            throw .init("path is compared without the query (query.NAME=value takes that)")
        }
        return .exact(text)
    }

    private static func ids(_ key: String, _ text: Substring) throws(FlowFilter.Fault) -> [UInt64] {
        var ids: [UInt64] = []
        for value in values(text) {
            guard let id = FlowID(value)?.number else {
                throw .init("\(key) takes ids of flows as they are listed, found \"\(quoted(value[...]))\"")
            }
            ids.append(id)
        }
        return ids
    }

    private static func number(
        _ key: String, _ text: Substring, _ units: [(name: String, factor: Int)], _ form: String
    ) throws(FlowFilter.Fault) -> Int {
        guard case .value(let number) = Units.read(String(text), units) else {
            throw .init("\(key) takes \(form), found \"\(quoted(text))\"")
        }
        return number
    }

    private static func choice(
        _ key: String, _ text: Substring, _ choices: KeyValuePairs<String, FlowFlags>
    ) throws(FlowFilter.Fault) -> FlowFlags {
        guard let flags = choices.first(where: { $0.key == text })?.value else {
            let words = choices.map(\.key).joined(separator: " or ")
            throw .init("\(key) takes \(words), found \"\(quoted(text))\"; not \(key)=yes asks for the others")
        }
        return flags
    }

    /// Parses a relative time, or a calendar time in UTC.
    private func time(_ key: String, _ text: Substring) throws(FlowFilter.Fault) -> Int {
        if case .value(let milliseconds) = Units.read(String(text), Units.times) { return now - milliseconds }
        if let seconds = CalendarTime.seconds(ofInternet: text) { return seconds * 1000 }
        throw .init(
            "\(key) takes how long ago, as in 5m, or a time, as in 2026-11-21T09:25:00Z, found \"\(Self.quoted(text))\""
        )
    }

    /// User input for a message of one line.
    static func quoted(_ text: Substring) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(80).map { $0.value < 0x20 ? " " : $0 }))
    }
}
