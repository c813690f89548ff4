internal import Addresses
internal import Declaration
internal import Formats
internal import Interception
internal import ProxyCore
internal import TLSEngine

/// The formats of the configuration, in addition to those of HTTP.
extension TextFormat {
    /// Converts the host in the text to ASCII.
    func converted(_ text: String) throws(InternationalName.Fault) -> String {
        switch host {
        case .none: text
        case .whole: try InternationalName.ascii(host: text)
        case .url: try InternationalName.ascii(url: text)
        }
    }

    static let label = TextFormat(
        "a name of 1 to 64 letters, digits, spaces and . _ - / : +", pattern: "^[A-Za-z0-9 ._/:+-]{1,64}$",
        isPublic: true
    ) { text in
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || " ._-/:+".utf8.contains($0) }
    }

    static let actionName = TextFormat(
        "the name of an Action in capitals, such as TRANSFER", pattern: "^[A-Z][A-Z0-9_]*$", isPublic: true
    ) { text in
        text.utf8.first.map { (0x41...0x5A).contains($0) } == true
            && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || ASCII.isDigit($0) || $0 == 0x5F }
    }

    static let logTarget = TextFormat(
        "stdout, journald, or an absolute path, such as /var/log/usher/access.log",
        pattern: "^(stdout|journald|/.*[^/])$", isPublic: true
    ) { LogSettings.Target($0) != nil }

    static let share = TextFormat(
        "a number from 0 to 1, such as 0.1", isPublic: true
    ) { text in
        guard let share = Double(text), text.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == 0x2E }) else { return false }
        return (0...1).contains(share)
    }

    // MARK: addresses

    static let listener = TextFormat(
        "an address and a port, such as 127.0.0.1:3128, [::1]:3128 or, for TLS, https://127.0.0.1:3129",
        pattern: #"^(https?://)?([0-9.]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$"#, isPublic: true
    ) { Listener($0) != nil }

    static let adminAddress = TextFormat(
        "an address and a port, such as 127.0.0.1:3130 or [::1]:3130",
        pattern: #"^([0-9.]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$"#, isPublic: true
    ) { !$0.contains("/") && Listener($0) != nil }

    static let group = TextFormat(
        "the name of a group on this machine, such as usher", pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,31}$", isPublic: true
    ) { text in
        (1...32).contains(text.utf8.count)
            && text.utf8.first.map { ASCII.isAlpha($0) || $0 == 0x5F } == true
            && text.utf8.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || "_.-".utf8.contains($0) }
    }

    static let nameServer = TextFormat(
        "an address with or without a port, such as 192.0.2.53, 127.0.0.1:5353 or [2001:db8::53]:53", isPublic: true
    ) { NameServer($0) != nil }

    static let client = TextFormat(
        "loopback, an address or a CIDR block, such as 192.0.2.7 or 10.1.0.0/16", isPublic: true
    ) {
        $0 == AddressGroup.loopback.rawValue || AddressBlock($0) != nil
    }

    static let passwords = TextFormat(
        "the output of htpasswd -B, such as \"${file:/etc/usher/users.htpasswd}\"", isQuotable: false
    ) { _ in true }

    static let destination = TextFormat(
        "a host or host glob with or without a port, an address, a CIDR block, \"*\", or one of "
            + AddressGroup.allCases.map(\.rawValue).joined(separator: ", "), host: .whole, isPublic: true
    ) { DestinationPattern($0) != nil }

    static let hostGlob = TextFormat(
        "a host, a host glob such as *.example.com, or an address", host: .whole, isPublic: true
    ) { text in
        !text.isEmpty && text.utf8.allSatisfy { ASCII.isUnreserved($0) || $0 == 0x2A } && !IPAddress.isLookalike(text)
            || IPAddress(text) != nil
    }

    /// The word for a direct connection to the origin.
    static let direct = "direct"

    static let upstreamProxy = TextFormat(
        "direct, or the http URL of a proxy without a path, such as http://proxy.example.com:8080 or "
            + "http://user:${env.PASSWORD}@proxy.example.com:8080",
        isQuotable: false, takesUser: true, host: .url
    ) { $0 == direct || UpstreamProxy($0) != nil }

    // MARK: TLS

    static let constraint = TextFormat(
        "a domain (includes its subdomains), an address or a CIDR block, such as staging.example.com or 10.1.0.0/16",
        host: .whole, isPublic: true
    ) { (try? NameConstraints([$0])) != nil }

    static let pin = TextFormat(
        "sha256/ and the base64 of the 32 bytes of a public key's SHA-256", pattern: "^sha256/[A-Za-z0-9+/_-]{43}=?$",
        isPublic: true
    ) { digest(ofPin: $0) != nil }

    /// The 32 bytes after `sha256/` (RFC 7469 §2.4).
    static func digest(ofPin text: String) -> [UInt8]? {
        guard text.hasPrefix("sha256/"), let digest = Base64.decode(text.dropFirst(7)), digest.count == 32
        else { return nil }
        return digest
    }

    // MARK: URLs

    static let urlGlob = TextFormat(
        "a glob over the whole URL, such as https://shop.example.com/api/*", pattern: #"^(https?://|\*)"#, host: .url,
        isPublic: true
    ) { text in
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }) else { return false }
        if text.hasPrefix("*") { return true }
        guard let after = ["http://", "https://", "http*://"].first(where: text.hasPrefix) else { return false }
        let authority = text.dropFirst(after.count).prefix { $0 != "/" && $0 != "?" }
        return !authority.isEmpty && !authority.contains("@")
    }

    static let presentation = TextFormat(
        "query:NAME, or header:NAME with a header that has no other meaning, such as query:_txid",
        pattern: "^(query:.+|header:[A-Za-z0-9!#$%&'*+.^_`|~-]+)$",
        isPublic: true
    ) { text in
        if text.hasPrefix("query:") { return text.utf8.count > 6 }
        return text.hasPrefix("header:") && HeaderRules.isFree(String(text.dropFirst(7)))
    }

    static let tree = TextFormat(
        "the name of a tree, with or without its realm, such as StepUp or /alpha:StepUp", pattern: "^(/[^:]*:)?[^:]+$",
        isPublic: true
    ) { text in
        let parts = text.utf8.split(separator: ASCII.colon, omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty } && (parts.count == 1 || text.hasPrefix("/"))
    }
}
