/// An object of the configuration: its name in the JSON Schema, and its keys.
public struct ObjectShape: Hashable, Sendable {
    public let name: String
    /// A closure, because an object may contain another one of its kind.
    private let list: @Sendable () -> [Key]

    public init(_ name: String, _ keys: @autoclosure @escaping @Sendable () -> [Key]) {
        self.name = name
        list = keys
    }

    public init(_ name: String, _ keys: Key...) { self.init(name, keys) }

    public var keys: [Key] { list() }

    public static func == (left: ObjectShape, right: ObjectShape) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
