/// A name and its value.
public struct Pair: Equatable, Sendable {
    public var name: String
    public var value: String
    /// The template that each exchange fills in; nil for a constant value.
    public var template: Template?

    public init(_ name: String, _ value: String, template: Template? = nil) {
        self.name = name
        self.value = value
        self.template = template
    }
}
