internal import Formats

/// The header fields of a message, with their order, case and repetitions. Names are case-insensitive.
public struct Headers: Equatable, Sendable {
    /// One field line.
    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public var fields: [Field]

    public init(_ fields: [Field] = []) { self.fields = fields }

    /// The value of the first line with that name. Setting it changes that line and removes the others; nil removes all of them.
    public subscript(_ name: String) -> String? {
        get { fields.first { ASCII.equal($0.name, name) }?.value }
        set {
            guard let newValue else { return remove(name) }
            guard let index = fields.firstIndex(where: { ASCII.equal($0.name, name) }) else {
                return add(name, newValue)
            }
            fields[index].value = newValue
            let rest = fields[(index + 1)...].filter { !ASCII.equal($0.name, name) }
            fields.replaceSubrange((index + 1)..., with: rest)
        }
    }

    /// The values of all lines with that name, in order.
    public func values(_ name: String) -> [String] {
        fields.filter { ASCII.equal($0.name, name) }.map(\.value)
    }

    /// Adds a line and keeps others with the name.
    public mutating func add(_ name: String, _ value: String) { fields.append(Field(name, value)) }

    /// Removes all lines with that name.
    public mutating func remove(_ name: String) { fields.removeAll { ASCII.equal($0.name, name) } }
}

extension Headers: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements.map { Field($0.0, $0.1) }) }
}
