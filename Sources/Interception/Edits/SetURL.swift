public import Declaration
public import HTTPCodec

/// `set_url`.
public struct SetURL: RequestEdit {
    public static let name = "set_url"
    public static let doc = "Replaces the whole URL."
    public static let shape = Shape.text(.url)

    public let url: String

    public init(_ url: String) { self.url = url }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let url = value.text else { return nil }
        self.init(url)
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        try URLEdit.retarget(&head, url)
        return .changed(["set URL to \(URLEdit.place(head))"])
    }
}

extension Edit where Self == SetURL {
    public static func setURL(_ url: String) -> Self { SetURL(url) }
}
