import Formats
import HTTPCodec

/// Requests and responses recorded by a browser or a proxy (HTTP Archive 1.2).
struct HARFile {
    struct Entry {
        var request: RequestHead
        var body: [UInt8]
        var status: Int
        var headers: [(name: String, value: String)]
        /// The response's body, if it is JSON.
        var json: JSONValue?

        func header(_ name: String) -> [String] {
            headers.filter { ASCII.equal($0.name, name) }.map(\.value)
        }
    }

    let entries: [Entry]

    init(_ text: [UInt8]) throws(FirstConfiguration.Fault) {
        guard let document = try? JSONValue(parsing: String(decoding: text, as: UTF8.self)),
            let items = document["log"]?["entries"]?.items
        else { throw FirstConfiguration.Fault(description: "not a HAR: it has no log.entries") }
        entries = items.compactMap(Self.entry)
    }

    private static func entry(_ item: JSONValue) -> Entry? {
        guard let asked = item["request"], let url = asked["url"]?.text,
            var request = try? RequestHead(method: asked["method"]?.text ?? "GET", url: withoutFragment(url))
        else { return nil }
        for (name, value) in fields(asked["headers"]) where !ASCII.equal(name, "host") {
            if FieldSyntax.isName(name), FieldSyntax.isValue(value) { request.fields.add(name, value) }
        }
        let answered = item["response"]
        return Entry(
            request: request, body: Array((asked["postData"]?["text"]?.text ?? "").utf8),
            status: answered?["status"]?.integer ?? 0, headers: fields(answered?["headers"]),
            json: content(answered?["content"]).flatMap { try? JSONValue(parsing: $0) })
    }

    /// The bytes of a response's content; nil if there are none.
    static func content(_ content: JSONValue?) -> [UInt8]? {
        let text = content?["text"]?.text
        return content?["encoding"]?.text == "base64" ? text.flatMap { Base64.decode($0) } : text.map { Array($0.utf8) }
    }

    static func withoutFragment(_ url: String) -> String { String(url.prefix { $0 != "#" }) }

    static func fields(_ list: JSONValue?) -> [(name: String, value: String)] {
        (list?.items ?? []).compactMap { item in
            guard let name = item["name"]?.text, let value = item["value"]?.text else { return nil }
            return (name, value)
        }
    }
}
