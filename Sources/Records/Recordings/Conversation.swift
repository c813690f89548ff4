internal import Formats
internal import Journal

/// One walk of an app through a recording.
struct Conversation: Sendable {
    let id: Int
    /// How often each exchange was given.
    private(set) var given: [Int: Int] = [:]
    /// The values of each alias, the newest last.
    private var values: [SecretAlias: [String]] = [:]
    /// The last values of parameters that tokens repeat.
    private(set) var repeated: [String: String] = [:]

    private static let mostValues = 100
    private static let repeatedNames = ["client_id", "nonce", "scope"]

    init(id: Int) { self.id = id }

    mutating func give(_ exchange: Int) { given[exchange, default: 0] += 1 }

    /// - Returns: the value that this one displaces.
    mutating func bind(_ alias: SecretAlias, _ value: String) -> String? {
        var all = (values[alias] ?? []).filter { $0 != value } + [value]
        defer { values[alias] = all }
        return all.count > Self.mostValues ? all.removeFirst() : nil
    }

    func has(_ alias: SecretAlias, _ value: String) -> Bool { values[alias]?.contains(value) ?? false }
    func newest(_ alias: SecretAlias) -> String? { values[alias]?.last }
    var allValues: [String] { values.values.flatMap { $0 } }

    mutating func learn(_ request: RequestParts) {
        for part in request.parts {
            guard let dot = part.place.firstIndex(of: ".") else { continue }
            let name = String(part.place[part.place.index(after: dot)...])
            if Self.repeatedNames.contains(name), !part.place.hasPrefix("header") { repeated[name] = part.value }
        }
    }
}
