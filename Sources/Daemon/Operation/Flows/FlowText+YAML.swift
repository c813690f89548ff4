import Control
import Formats
import Interception
import Journal

/// A flow as a case of `usher test`, and as an interceptor. Strings are written in JSON's form, which YAML reads.
extension FlowText {
    /// - Throws: `Fault` for a tunnel, which only has messages.
    func written(as form: FlowCopy) throws(Fault) -> [UInt8] {
        switch form {
        case .curl: Array(try curl().utf8)
        case .http: http(isShown: false)
        case .test: Array(try testCase().utf8)
        case .rule: Array(try rule().utf8)
        }
    }

    /// A file of cases with this flow.
    public func testCase() throws(Fault) -> String {
        let request = try opened()
        var lines = notes(request).map { "# \($0)" }
        lines += ["cases:", "  - name: \(Self.quoted(name(request)))", "    request:"]
        lines += ["      method: \(Self.quoted(request.method))", "      url: \(Self.quoted(request.url))"]
        lines += Self.content(request)
        if !flow.marks.contains("local"), let origin = answer ?? response {
            lines += ["    origin:", "      status: \(origin.status)"] + Self.content(origin)
        }
        lines.append("    expect:")
        let action = flow.text("action")
        lines.append("      action: \(action.isEmpty ? "none" : action)")
        lines += ["tree", "realm"].compactMap { key in
            flow.text(key).isEmpty ? nil : "      \(key): \(Self.quoted(flow.text(key)))"
        }
        if let status = flow.status { lines.append("      received: { status: \(status) }") }
        return lines.map { "\($0)\n" }.joined()
    }

    /// An interceptor whose condition fits the request.
    public func rule() throws(Fault) -> String {
        let request = try opened()
        let url = URLParts(request.url)
        var terms = [("host", url.host), ("method", request.method), ("path", Self.exactly(url.path))]
        let action = flow.text("action")
        if !action.isEmpty { terms = [("action", action), ("tree", flow.text("tree")), ("realm", flow.text("realm"))] }
        let condition = terms.filter { !$0.1.isEmpty }.map { "\($0.0): \(Self.quoted($0.1))" }
        return """
            interceptors:
              - name: \(Self.quoted(Self.label(name(request))))
                when: { \(condition.joined(separator: ", ")) }
                # what it does: usher check --print-edits lists the edits, usher faults the faults
                response: [{ set_header: { X-Usher-Example: \(Self.quoted(flow.id)) } }]

            """
    }

    private func name(_ request: StoredMessage) -> String {
        let action = flow.text("action")
        return action.isEmpty ? "\(request.method) \(URLParts(request.url).path)" : action
    }

    /// The fields and the body of a message.
    private static func content(_ message: StoredMessage) -> [String] {
        var names: [String] = []
        for field in message.fields where !CurlText.isMade(field.name) {
            if !names.contains(where: { ASCII.equal($0, field.name) }) { names.append(field.name) }
        }
        var lines = names.isEmpty ? [] : ["      headers:"]
        for name in names {
            let values = message.fields.filter { ASCII.equal($0.name, name) }.map { quoted($0.value) }
            lines.append(
                "        \(quoted(name)): " + (values.count == 1 ? values[0] : "[\(values.joined(separator: ", "))]"))
        }
        guard !message.body.isEmpty else { return lines }
        guard message.isText else {
            return lines + ["      # the body is not text: write it to a file, and name it by file"]
        }
        return lines + ["      body: \(quoted(String(decoding: message.body, as: UTF8.self)))"]
    }

    /// The string in YAML. A reference would be replaced by a secret.
    private static func quoted(_ text: String) -> String {
        var out = ""
        for scalar in JSONValue.string(text.replacing("${", with: "$${")).serialized.unicodeScalars {
            switch scalar.value {
            // YAML refuses them, or reads them as the end of a line
            case 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
                out += "\\u" + String(scalar.value + 0x1_0000, radix: 16).dropFirst()
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// The text as a name of an interceptor.
    private static func label(_ text: String) -> String {
        String(
            decoding: text.utf8.prefix(64).map {
                ASCII.isAlpha($0) || ASCII.isDigit($0) || " ._-/:+".utf8.contains($0) ? $0 : 0x2D
            }, as: UTF8.self)
    }

    /// The text as a value of `when` that matches nothing else.
    private static func exactly(_ text: String) -> String {
        guard Glob.isGlob(text) || text.hasPrefix("~") else { return text }
        let letters = text.utf8.flatMap { ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 > 0x7F ? [$0] : [0x5C, $0] }
        return "~^" + String(decoding: letters, as: UTF8.self) + "$"
    }

    /// The host and the path of an absolute URL.
    private struct URLParts {
        let host: String
        let path: String

        init(_ url: String) {
            let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            let authority = rest[..<end]
            let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
            host = String(authority[..<(colon ?? authority.endIndex)])
            path = String(rest[end...].prefix { $0 != "?" })
        }
    }
}
