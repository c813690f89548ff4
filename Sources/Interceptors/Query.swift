internal import HTTPCodec

/// The parameters of a URL's query. What is not touched stays as it is written.
public struct Query: Equatable, Sendable {
    private var text: QueryText

    init(_ text: some StringProtocol) { self.text = QueryText(text) }

    /// As it stands in the URL, without the question mark.
    var written: String { text.text }
    var isEmpty: Bool { text.isEmpty }

    /// The decoded value of the first parameter of that name. Setting it changes that one and takes the others of the name
    /// away; nil takes all of them away.
    public subscript(_ name: String) -> String? {
        get { text[name] }
        set { if let newValue { text.set(name, newValue) } else { remove(name) } }
    }

    /// The decoded values of all parameters of that name, in order.
    public func values(_ name: String) -> [String] { text.values(named: name) }

    /// Adds a parameter beside others of its name.
    public mutating func add(_ name: String, _ value: String) { text.add(name, value) }

    /// Takes all parameters of that name away.
    public mutating func remove(_ name: String) { text.removeAll { $0 == name } }
}
