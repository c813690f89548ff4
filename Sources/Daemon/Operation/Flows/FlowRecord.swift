import Formats

/// A flow from the daemon, for display.
struct FlowRecord {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    func text(_ name: String) -> String { value[name]?.text ?? "" }
    func number(_ name: String) -> Int { value[name]?.integer ?? 0 }

    var id: String { text("id") }
    /// Nil if the client got no response.
    var status: Int? { value["status"]?.integer }
    var marks: [String] { (value["marks"]?.items ?? []).compactMap(\.text) }
    var error: String? { value["error"]?.text }

    /// In milliseconds since 1970.
    var began: Int { Self.time(text("began")) ?? 0 }

    /// - Parameter text: as in `2026-11-21T09:25:00.123Z`.
    static func time(_ text: String) -> Int? {
        let fraction = text.utf8.drop { $0 != 0x2E }.dropFirst().prefix(while: ASCII.isDigit)
        guard let seconds = CalendarTime.seconds(ofInternet: text) else { return nil }
        return seconds * 1000 + (Int(String(Substring(fraction.prefix(3)))) ?? 0)
    }

    /// Host, port and path, without the scheme.
    var place: String {
        let url = text("url")
        guard let start = url.firstRange(of: "://") else { return url }
        return String(url[start.upperBound...])
    }

    /// A letter for each notable property.
    var letters: String {
        let letters = [
            ("request_changed", "C"), ("response_changed", "C"), ("step_up", "S"), ("fault", "F"),
            ("slowed", "D"), ("local", "U"),
            ("incomplete", "P"), ("tunnel", "T"), ("call", "O"),
        ]
        var shown = letters.filter { marks.contains($0.0) }.map(\.1).joined()
        if shown.hasPrefix("CC") { shown.removeFirst() }
        return error == nil ? shown : shown + "E"
    }

    /// A size in few characters.
    static func size(_ bytes: Int) -> String {
        guard bytes >= 1000 else { return "\(bytes)" }
        var value = Double(bytes)
        for unit in ["k", "M", "G", "T"] {
            value /= 1000
            if value < 10 { return "\(Double(Int(value * 10)) / 10)\(unit)" }
            if value < 1000 { return "\(Int(value))\(unit)" }
        }
        return "\(bytes)"
    }

    static func duration(_ milliseconds: Int) -> String {
        milliseconds < 100_000 ? "\(milliseconds)" : "\(milliseconds / 1000)s"
    }
}
