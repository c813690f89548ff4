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
        let cells = rows.map { [$0.name, $0.kind, $0.concerns, $0.does] }
        return ColumnText(["INTERCEPTOR", "KIND", "CONCERNS", "DOES"], cells, most: [2: 48]).text(style)
    }

    public var json: JSONValue {
        .array(
            rows.map {
                [
                    "name": .string($0.name), "kind": .string($0.kind), "concerns": .string($0.concerns),
                    "does": .string($0.does),
                ]
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
            return (edit as? SwiftEdit).map(\.subject) ?? name
        }
        let lists = [list("request", rule.request), list("response", rule.response), list("error", rule.error)]
        let words = lists.compactMap { $0 }.joined(separator: "; ")
        return words.isEmpty ? "nothing" : words
    }
}
