/// The reason why a key, a certificate or a container is unusable. The text begins in lower case and has no full stop:
/// `holds no certificate in PEM`. The caller names the file.
public struct MaterialFault: Error, Equatable, Sendable {
    public let words: String

    public init(_ words: String) { self.words = words }
}
