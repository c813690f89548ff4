internal import Authorization
public import Formats
internal import Interception
public import ProxyCore

/// A summary of a configuration's interceptors and tokens: the requests that each applies to, and its effect.
public struct InterceptorList: Sendable {
    fileprivate struct Row {
        let name: String
        let kind: String
        let concerns: String
        let does: String
    }

    private let rows: [Row]

    public init(_ settings: Settings) {
        rows = settings.rules.map { Row($0) } + (settings.tokens?.sources ?? []).map { Row($0) }
    }

    /// A table with a line break after each line; empty if there are no rows.
    public func text(_ style: TextStyle) -> String {
        guard !rows.isEmpty else { return "no interceptors\n" }
        let titles = Row(name: "INTERCEPTOR", kind: "KIND", concerns: "CONCERNS", does: "DOES")
        let all = [titles] + rows
        func width(_ part: (Row) -> String) -> Int { all.map { part($0).count }.max() ?? 0 }
        let widths = (width(\.name), width(\.kind), min(width(\.concerns), Self.widest))
        return all.enumerated().map { index, row in
            let cells =
                "\(row.name.padded(to: widths.0))  \(row.kind.padded(to: widths.1))  \(row.concerns.padded(to: widths.2))  \(row.does)"
            return (index == 0 ? style.heading(cells) : cells) + "\n"
        }.joined()
    }

    /// The largest column width. A longer text shifts the rest of its own row only.
    private static let widest = 48

    public var json: JSONValue {
        .array(
            rows.map {
                .object([
                    .init("name", .string($0.name)), .init("kind", .string($0.kind)),
                    .init("concerns", .string($0.concerns)), .init("does", .string($0.does)),
                ])
            })
    }
}

extension InterceptorList.Row {
    fileprivate init(_ rule: Rule) {
        name = rule.name
        kind = rule.builtIn.map { type(of: $0).name } ?? "edits"
        concerns = rule.when.words + (rule.sampling.isWhole ? "" : " (\(rule.sampling.words))")
        does = rule.builtIn.map { $0.words + Self.transport($0, rule.when) } ?? Self.edits(rule)
    }

    private static func transport(_ builtIn: any BuiltIn, _ when: Condition) -> String {
        type(of: builtIn).sendsSecret && !when.namesTransport ? ", only https to port 443" : ""
    }

    fileprivate init(_ source: TokenSource) {
        name = "tokens"
        kind = source.settings.manner.rawValue
        concerns = source.settings.resources.joined(separator: ", ")
        does = source.words
    }

    private static func edits(_ rule: Rule) -> String {
        func list(_ phase: String, _ edits: [any Edit]) -> String? {
            edits.isEmpty ? nil : "\(phase): \(edits.map(name).joined(separator: ", "))"
        }
        func name(_ edit: any Edit) -> String {
            let name = type(of: edit).name
            return (edit as? SwiftEdit).map { "\(name) \($0.registered)" } ?? name
        }
        let lists = [list("request", rule.request), list("response", rule.response), list("error", rule.error)]
        let words = lists.compactMap { $0 }.joined(separator: "; ")
        return words.isEmpty ? "nothing" : words
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
