public import Formats
public import TLSEngine

/// The interception CA as text and as JSON, for `usher ca`.
public struct AuthoritySummary {
    private let certificates: AuthorityCertificates
    private let store: AuthorityStore

    public init(_ certificates: AuthorityCertificates, _ store: AuthorityStore) {
        self.certificates = certificates
        self.store = store
    }

    private var key: String {
        switch store.files.key {
        case .file(let path): path
        case .given, .missing: "set by tls.ca.key"
        }
    }

    public var text: String {
        var text = Self.text(certificates.root)
        text += "  certificate  \(store.files.certificate)\n  key          \(key)\n"
        for cross in certificates.crosses {
            text += "  cross-signed by \(cross.issuer) until \(CalendarDate.text(cross.notAfter))\n"
        }
        return text
    }

    public var json: JSONValue {
        var value = Self.json(certificates.root)
        value["certificate"] = .string(store.files.certificate)
        value["key"] = .string(key)
        value["cross_certificates"] = .array(certificates.crosses.map(Self.json))
        return value
    }

    public static func text(_ certificate: Certificate) -> String {
        let constraints = certificate.nameConstraints
        return """
              subject      \(certificate.subject)
              SHA-256      \(certificate.fingerprint)
              valid from   \(CalendarDate.text(certificate.notBefore))
              valid until  \(CalendarDate.text(certificate.notAfter))
              valid for    \(constraints.isEmpty ? "every host" : constraints.joined(separator: ", "))

            """
    }

    public static func json(_ certificate: Certificate) -> JSONValue {
        .object([
            .init("subject", .string(certificate.subject)), .init("issuer", .string(certificate.issuer)),
            .init("sha256", .string(certificate.fingerprint)),
            .init("not_before", .string(CalendarDate.text(certificate.notBefore))),
            .init("not_after", .string(CalendarDate.text(certificate.notAfter))),
            .init("constrain_to", .array(certificate.nameConstraints.map(JSONValue.string))),
        ])
    }
}
