/// The replacement of a secret, such as `session#3`.
public struct SecretAlias: Hashable, Sendable {
    public let kind: SecretKind
    public let number: UInt32

    public init(_ kind: SecretKind, _ number: UInt32) {
        self.kind = kind
        self.number = number
    }

    public var text: String { "\(kind.word)#\(number)" }
}
