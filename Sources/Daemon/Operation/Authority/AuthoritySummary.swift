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
            text += "  cross-signed by \(cross.issuer) until \(CalendarTime(cross.notAfter).internet)\n"
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
              valid from   \(CalendarTime(certificate.notBefore).internet)
              valid until  \(CalendarTime(certificate.notAfter).internet)
              valid for    \(constraints.isEmpty ? "every host" : constraints.joined(separator: ", "))

            """
    }

    public static func json(_ certificate: Certificate) -> JSONValue {
        [
            "subject": .string(certificate.subject), "issuer": .string(certificate.issuer),
            "sha256": .string(certificate.fingerprint),
            "not_before": .string(CalendarTime(certificate.notBefore).internet),
            "not_after": .string(CalendarTime(certificate.notAfter).internet),
            "constrain_to": .strings(certificate.nameConstraints),
        ]
    }
}
