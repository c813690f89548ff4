public import Formats

/// The transactions that wait for a person.
public struct TransactionReport {
    private let transactions: [JSONValue]
    private let style: TextStyle

    /// - Parameter answer: the daemon's response.
    public init(_ answer: JSONValue, _ style: TextStyle) {
        transactions = answer["transactions"]?.items ?? []
        self.style = style
    }

    public var text: String {
        if transactions.isEmpty { return "no step-up waits for a person\n" }
        let rows = transactions.map(Self.row)
        return ColumnText(["ID", "WHO", "RESOURCE", "ASKS FOR", "LEFT"], rows).text(style)
    }

    private static func row(_ transaction: JSONValue) -> [String] {
        func text(_ name: String) -> String { TerminalText.shown(transaction[name]?.text ?? "") }
        let who = text("user").isEmpty ? text("client") : "\(text("user")) (\(text("client")))"
        let asks =
            transaction["kind"]?.text == "suspended"
            ? "a link" : (transaction["callbacks"]?.items ?? []).map(shown).joined(separator: ", ")
        let says = says(transaction).joined(separator: " / ")
        let page = says.isEmpty ? "" : " – \(TerminalText.shown(says))"
        let tree = text("tree").isEmpty ? "" : " [\(text("tree"))]"
        let left = (transaction["left_ms"]?.integer ?? 0) / 1000
        return [text("id"), who, "\(text("method")) \(text("resource"))", asks + page + tree, "\(left) s"]
    }

    /// The text of the page for the person, in lines.
    public static func says(_ transaction: JSONValue) -> [String] {
        let texts =
            ["header", "message"].map { transaction[$0]?.text ?? "" }
            + (transaction["messages"]?.items ?? []).map { $0.text ?? "" }
        return texts.map(TerminalText.shown).filter { !$0.allSatisfy(\.isWhitespace) }
    }

    /// A callback in a few words.
    public static func shown(_ callback: JSONValue) -> String {
        let type = TerminalText.shown(callback["type"]?.text ?? "")
        let prompt = TerminalText.shown(callback["prompt"]?.text ?? "")
        return prompt.isEmpty ? type : "\(type) \"\(prompt)\""
    }
}

/// The logins that are locked out or have counted refusals.
public struct LockoutReport {
    private let logins: [JSONValue]
    private let style: TextStyle

    public init(_ answer: JSONValue, _ style: TextStyle) {
        logins = answer["logins"]?.items ?? []
        self.style = style
    }

    public var text: String {
        if logins.isEmpty { return "no login has a count\n" }
        let rows = logins.map { login in
            let held = login["held_ms"]?.integer ?? 0
            return [
                login["id"]?.text ?? "", login["counts"]?.text ?? "", TerminalText.shown(login["at"]?.text ?? ""),
                "\(login["refusals"]?.integer ?? 0)", "\(login["under_way"]?.integer ?? 0)",
                held > 0 ? "\((held + 999) / 1000) s" : "-",
            ]
        }
        return ColumnText(["ID", "COUNTS", "AT", "REFUSALS", "UNDER WAY", "HELD OFF"], rows).text(style)
    }
}
