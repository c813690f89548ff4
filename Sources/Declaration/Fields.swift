/// The keys of one object or map, in the order of the file. Values that did not pass are left out; `has` knows of them.
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
    /// A map that the configuration's author names freely is asked for none of them.
    public var written: [String] = []

    public init(position: Position) { self.position = position }

    public func has(_ name: String) -> Bool { written.contains(name) }

    /// True where the key stands there with a value that did not pass, which has been told of.
    public func hasFaulty(_ name: String) -> Bool { has(name) && self[name] == nil }

    /// Where the key stands whose value passed.
    public func position(of name: String) -> Position? { all.first { $0.name == name }?.position }

    public subscript(_ name: String) -> Decoded? { all.first { $0.name == name }?.value }

    public func text(_ name: String) -> String? { self[name]?.text }
    public func flag(_ name: String) -> Bool? { self[name]?.flag }
    public func number(_ name: String) -> Int? { self[name]?.number }
    public func list(_ name: String) -> [Decoded] { self[name]?.list ?? [] }
    public func fields(_ name: String) -> Fields? { self[name]?.fields }
}
