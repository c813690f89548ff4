/// A name and what it is to be.
public struct Pair: Equatable, Sendable {
    public var name: String
    public var value: String
    /// What the value is made of for each exchange; nil where it is the same for all.
    public var template: Template?

    public init(_ name: String, _ value: String, template: Template? = nil) {
        self.name = name
        self.value = value
        self.template = template
    }
}
