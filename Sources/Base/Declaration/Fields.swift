/// The keys of an object or map in file order, without invalid values; `has` includes those.
public struct Fields: Sendable {
    public struct Field: Sendable {
        public var name: String
        public var position: Position
        public var value: Decoded

        public init(name: String, position: Position, value: Decoded) {
            self.name = name
            self.position = position
            self.value = value
        }
    }

    public var position: Position
    public var all: [Field] = []
    /// All keys that are present. Maps with free names do not need it.
    public var written: [String] = []

    public init(position: Position) { self.position = position }

    public func has(_ name: String) -> Bool { written.contains(name) }

    /// True if the key is present with an invalid value, which was reported.
    public func hasFaulty(_ name: String) -> Bool { has(name) && self[name] == nil }

    /// The position of a key with a valid value.
    public func position(of name: String) -> Position? { all.first { $0.name == name }?.position }

    public subscript(_ name: String) -> Decoded? { all.first { $0.name == name }?.value }

    public func text(_ name: String) -> String? { self[name]?.text }
    public func flag(_ name: String) -> Bool? { self[name]?.flag }
    public func number(_ name: String) -> Int? { self[name]?.number }
    public func list(_ name: String) -> [Decoded] { self[name]?.list ?? [] }
    public func fields(_ name: String) -> Fields? { self[name]?.fields }
}
