/// An object of the configuration: the name that the JSON Schema gives it, and the keys that this build understands.
public struct ObjectShape: Hashable, Sendable {
    public let name: String
    /// Asked for late, because an object may hold another of its kind.
    private let list: @Sendable () -> [Key]

    public init(_ name: String, _ keys: @autoclosure @escaping @Sendable () -> [Key]) {
        self.name = name
        list = keys
    }

    public var keys: [Key] { list() }

    public static func == (left: ObjectShape, right: ObjectShape) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
