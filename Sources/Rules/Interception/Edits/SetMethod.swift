public import Declaration
public import HTTPCodec

/// `set_method`.
public struct SetMethod: RequestEdit {
    public static let name = "set_method"
    public static let doc = "Replaces the method."
    public static let shape = Shape.text(.method)

    public let method: String

    public init(_ method: String) { self.method = method }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let method = value.text else { return nil }
        self.init(method)
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        guard FieldSyntax.isName(method) else {
            throw EditFault(reason: "the method is empty, or has an invalid character")
        }
        guard method != "CONNECT" else { throw EditFault(reason: "a request cannot become a CONNECT") }
        head.setMethod(method)
        return .changed(["set method \(method)"])
    }
}
