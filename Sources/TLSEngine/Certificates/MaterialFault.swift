/// Why a key, a certificate or a container of them cannot be used, in words that begin in lower case and have no end:
/// `holds no certificate in PEM`. The caller names the file.
public struct MaterialFault: Error, Equatable, Sendable {
    public let words: String

    public init(_ words: String) { self.words = words }
}
