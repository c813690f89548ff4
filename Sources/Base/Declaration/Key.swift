/// A key of an object.
public struct Key: Sendable {
    public var name: String
    public var shape: Shape
    /// One sentence for editors.
    public var doc: String
    /// The default as it would be written; nil if there is none.
    public var standard: String?
    public var isRequired = false

    public init(_ name: String, _ shape: Shape, _ doc: String, standard: String? = nil, isRequired: Bool = false) {
        self.name = name
        self.shape = shape
        self.doc = doc
        self.standard = standard
        self.isRequired = isRequired
    }
}
