internal import Declaration
internal import ProxyCore
internal import TLSEngine

extension KeyTable {
    static let tls: [Key] = [
        Key(
            "intercept", .oneOrMany(.text(.destination)),
            "Hosts whose TLS is intercepted. Other hosts are tunnelled.", standard: "[]"),
        Key(
            "except", .oneOrMany(.text(.destination)), "Hosts of intercept that are not intercepted.",
            standard: "[]"),
        Key(
            "on_refusal", .choice(InterceptionPolicy.OnRefusal.allCases.map(\.rawValue)),
            "Handling of a client that keeps refusing a host's certificate. tunnel: stop intercepting it for an hour.",
            standard: "fail"),
        Key(
            "key_log", .boolean, "Allow SSLKEYLOGFILE. With that file, recorded traffic can be decrypted.",
            standard: "false"),
        Key("ca", .object(.authority), "The CA for intercepted hosts. Usher creates it at the first start."),
        Key(
            "listener", .object(.listenerIdentity),
            "The certificate of https:// listeners. Without the key, one of Usher's CA."),
        Key("upstream", .object(.upstreamTLS), "The verification of origins."),
        Key(
            "client_certificates", .list(.object(.clientCertificate)),
            "Certificates for origins that request one. The first entry that matches decides.", standard: "[]"),
    ]

    static let authority: [Key] = [
        Key("certificate", .text(.file), "The CA's certificate, in the state directory.", standard: "ca.pem"),
        Key("key", .secret(.key), "The CA's key, in the state directory, or a reference to it.", standard: "ca.key"),
        Key(
            "constrain_to", .oneOrMany(.text(.constraint)),
            "Domains, addresses and CIDR blocks that the CA is limited to."),
    ]

    static let listenerIdentity = identity

    static let clientCertificate =
        [Key("host", .oneOrMany(.text(.destination)), "Origins that get the certificate.", isRequired: true)] + identity

    private static let identity = [
        Key(
            "certificate", .text(.file),
            "The file of the certificate and its intermediates, in PEM; or a .p12, which also has the key.",
            isRequired: true),
        Key("key", .secret(.key), "The file of the private key in PEM, or a reference to it."),
        Key("password", .secret(.password), "The password of the key or the .p12, as a reference."),
    ]

    private static let minimum = Key(
        "minimum", .choice(TLSVersion.allCases.map(\.rawValue)), "The oldest accepted version of TLS.",
        standard: "\"1.2\"")

    static let upstreamTLS: [Key] = [
        Key(
            "trust", .choice(["system", "none"]),
            "Roots to trust. system: those of the system; none: only extra_trust.", standard: "system"),
        Key(
            "extra_trust", .oneOrMany(.text(.file)),
            "Files with further root certificates, PEM or DER.", standard: "[]"),
        Key(
            "crl", .oneOrMany(.text(.file)),
            "Files with revocation lists, PEM or DER. With at least one, revocation is checked.", standard: "[]"),
        Key("verify", .boolean, "Always true. hosts can exempt single hosts.", standard: "true"),
        minimum,
        Key(
            "hosts", .list(.object(.upstreamHost)),
            "Settings for some hosts. For each key, the first matching entry counts.",
            standard: "[]"),
    ]

    static let upstreamHost: [Key] = [
        Key("host", .oneOrMany(.text(.destination)), "Origins that the entry applies to.", isRequired: true),
        Key("verify", .boolean, "false: do not verify the origin's certificate."),
        Key("minimum", minimum.shape, minimum.doc),
        Key(
            "pins", .oneOrMany(.text(.pin)),
            "SHA-256 of public keys, as sha256/BASE64. The origin's chain must contain one.", standard: "[]"),
    ]
}
