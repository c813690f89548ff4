internal import Formats
internal import HTTPCodec
internal import Journal

/// A request as named values, which are compared one by one.
struct RequestParts: Sendable {
    struct Part: Sendable {
        /// Such as `path`, `query.client_id`, `form.code`, `body/callbacks/0/type`, `cookie.iPlanetDirectoryPro` or
        /// `header.authorization`.
        var place: String
        var value: String
        var pattern: AliasPattern

        init(_ place: String, _ value: String) {
            (self.place, self.value) = (place, value)
            pattern = AliasPattern(value.utf8)
        }
    }

    private(set) var parts: [Part] = []

    init(_ exchange: RecordedExchange) {
        self.init(exchange.method, exchange.target, exchange.request)
    }

    /// - Parameter target: path and query.
    init(_ method: String, _ target: String, _ message: RecordedMessage) {
        add("method", method)
        let mark = target.utf8.firstIndex(of: 0x3F)
        add("path", PercentCoding.decode(target[..<(mark ?? target.endIndex)]))
        if let mark { add("query", QueryText(target[target.utf8.index(after: mark)...])) }
        for field in message.fields {
            let name = ASCII.lowercased(field.name)
            if name == "cookie" {
                for pair in CookieText(field.value).pairs {
                    let name = pair.prefix { $0 != "=" }
                    add("cookie.\(name)", String(pair.dropFirst(name.count + 1)))
                }
            } else {
                add("header.\(name)", field.value)
            }
        }
        guard !message.body.isEmpty else { return }
        if message.isForm {
            add("form", QueryText(String(decoding: message.body, as: UTF8.self)))
        } else if let json = try? JSONValue(parsing: message.body) {
            add("body", json)
        } else {
            add("body", String(decoding: message.body, as: UTF8.self))
        }
    }

    private mutating func add(_ place: String, _ value: String) { parts.append(Part(place, value)) }

    private mutating func add(_ place: String, _ query: QueryText) {
        var counts: [String: Int] = [:]
        for pair in query.pairs where !pair.isEmpty {
            let name = QueryText.name(pair)
            let count = counts[name, default: 0]
            counts[name] = count + 1
            add("\(place).\(name)" + (count == 0 ? "" : "[\(count)]"), QueryText.value(pair))
        }
    }

    private mutating func add(_ place: String, _ json: JSONValue) {
        switch json {
        case .object(let members) where !members.isEmpty:
            for member in members { add("\(place)/\(member.name)", member.value) }
        case .array(let items) where !items.isEmpty:
            for (index, item) in items.enumerated() { add("\(place)/\(index)", item) }
        case .string(let text): add(place, text)
        case .object where place == "body": break
        default: add(place, json.written)
        }
    }
}
