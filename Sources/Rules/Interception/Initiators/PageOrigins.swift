public import Declaration
internal import Formats
internal import HTTPCodec

/// The origins in `origins` of an entry. Usher may add credentials to requests of their pages. The resource's own origin needs no
/// entry.
public struct PageOrigins: Hashable, Sendable {
    private let patterns: [String]

    /// - Parameter texts: values that `TextFormat.pageOrigin` accepts.
    public init(_ texts: [String] = []) { patterns = texts.compactMap(Self.pattern) }

    /// - Parameter origin: in its normal form.
    public func contains(_ origin: String) -> Bool { patterns.contains { Glob.matches($0, origin) } }

    /// The normal form of an `Origin` value (RFC 6454 §6.2): a scheme, a host, and a port other than the scheme's default. Nil
    /// for everything else, including `null`.
    public static func normal(_ text: String) -> String? {
        guard text.utf8.count <= longest, let mark = text.firstRange(of: "://") else { return nil }
        let scheme = ASCII.lowercased(String(text[..<mark.lowerBound]))
        let authority = text[mark.upperBound...].utf8
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first), scheme.utf8.allSatisfy(isOfScheme),
            !authority.isEmpty, authority.allSatisfy({ ASCII.isUnreserved($0) || [0x3A, 0x5B, 0x5D].contains($0) })
        else { return nil }
        // a page served by an app itself, such as capacitor://localhost
        guard scheme == "http" || scheme == "https" else { return ASCII.lowercased(text) }
        return (try? RequestHead(method: "GET", url: text))?.originText
    }

    /// The glob of a pattern. `*.` stands for all subdomains of a domain.
    fileprivate static func pattern(_ text: String) -> String? {
        guard let star = text.firstRange(of: "://*.") else { return normal(text) }
        // checked with a name in place of the star; the domain needs two labels at least
        let name = "://\(anyName)."
        guard text[star.upperBound...].contains("."), let whole = normal(text.replacingCharacters(star, with: name))
        else {
            return nil
        }
        return whole.firstRange(of: name).map { whole.replacingCharacters($0, with: "://*.") }
    }

    private static let anyName = "any-name"
    private static let longest = 512

    private static func isOfScheme(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E].contains(byte)
    }

    /// The key `origins` of entries that add credentials.
    public static let key = Key(
        "origins", .oneOrMany(.text(.pageOrigin)),
        "Origins of other sites whose pages may use this. Without the key: only the resource's own pages, and requests of no page.",
        standard: "[]")
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}

extension TextFormat {
    public static let pageOrigin = TextFormat(
        "an origin without a path, such as https://app.example.com or https://*.example.com, and not null",
        isPublic: true
    ) { PageOrigins.pattern($0) != nil }
}

extension Fields {
    /// The value of `PageOrigins.key`.
    public var pageOrigins: PageOrigins { PageOrigins(list("origins").compactMap(\.text)) }
}
