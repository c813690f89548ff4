internal import HTTPCodec

/// The parameters of a URL's query. Unchanged parameters keep their encoding.
public struct Query: Equatable, Sendable {
    private var text: QueryText

    init(_ text: some StringProtocol) { self.text = QueryText(text) }

    /// The encoded query without the question mark.
    var written: String { text.text }
    var isEmpty: Bool { text.isEmpty }

    /// The decoded value of the first parameter with that name. Setting it changes that parameter and removes the others; nil
    /// removes all of them.
    public subscript(_ name: String) -> String? {
        get { text[name] }
        set { if let newValue { text.set(name, newValue) } else { remove(name) } }
    }

    /// The decoded values of all parameters with that name, in order.
    public func values(_ name: String) -> [String] { text.values(named: name) }

    /// Adds a parameter and keeps others with the name.
    public mutating func add(_ name: String, _ value: String) { text.add(name, value) }

    /// Removes all parameters with that name.
    public mutating func remove(_ name: String) { text.removeAll { $0 == name } }
}
