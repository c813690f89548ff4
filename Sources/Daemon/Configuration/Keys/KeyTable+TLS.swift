internal import Declaration
internal import ProxyCore
internal import TLSEngine

extension KeyTable {
    static let tls = KeyGroup(
        TLSSettings(),
        .key(
            "intercept", .oneOrMany(.text(.destination)),
            "Hosts whose TLS is intercepted. Other hosts are tunnelled.", standard: "[]"),
        .key(
            "except", \.interception.except, .oneOrMany(.text(.destination)),
            "Hosts of intercept that are not intercepted.", standard: "[]"
        ) { $0.patterns },
        .choice(
            "on_refusal", \.interception.onRefusal,
            "Handling of a client that keeps refusing a host's certificate. tunnel: stop intercepting it for an hour."),
        .flag("key_log", \.keyLog, "Allow SSLKEYLOGFILE. With that file, recorded traffic can be decrypted."),
        .key("ca", .object(authority), "The CA for intercepted hosts. Usher creates it at the first start."),
        .key(
            "listener", .object(listenerIdentity),
            "The certificate of https:// listeners. Without the key, one of Usher's CA."),
        .key("upstream", .object(upstreamTLS.shape("upstream_tls")), "The verification of origins."),
        .key(
            "client_certificates", .list(.object(clientCertificate)),
            "Certificates for origins that request one. The first entry that matches decides.", standard: "[]"))

    static let authority = ObjectShape(
        "ca",
        Key("certificate", .text(.file), "The CA's certificate, in the state directory.", standard: "ca.pem"),
        Key("key", .secret(.key), "The CA's key, in the state directory, or a reference to it.", standard: "ca.key"),
        Key(
            "constrain_to", .oneOrMany(.text(.constraint)),
            "Domains, addresses and CIDR blocks that the CA is limited to."))

    static let listenerIdentity = ObjectShape("listener", identity)

    static let clientCertificate = ObjectShape(
        "client_certificate",
        [Key("host", .oneOrMany(.text(.destination)), "Origins that get the certificate.", isRequired: true)] + identity
    )

    private static let identity = [
        Key(
            "certificate", .text(.file),
            "The file of the certificate and its intermediates, in PEM; or a .p12, which also has the key.",
            isRequired: true),
        Key("key", .secret(.key), "The file of the private key in PEM, or a reference to it."),
        Key("password", .secret(.password), "The password of the key or the .p12, as a reference."),
    ]

    private static let minimum = "The oldest accepted version of TLS."

    static let upstreamTLS = KeyGroup(
        OriginSecurity(),
        .key(
            "trust", \.usesSystemTrust, .choice(["system", "none"]),
            "Roots to trust. system: those of the system; none: only extra_trust.", standard: "system"
        ) { $0.text != "none" },
        .key(
            "extra_trust", .oneOrMany(.text(.file)),
            "Files with further root certificates, PEM or DER.", standard: "[]"),
        .key(
            "crl", .oneOrMany(.text(.file)),
            "Files with revocation lists, PEM or DER. With at least one, revocation is checked.", standard: "[]"),
        .key("verify", .boolean, "Always true. hosts can exempt single hosts.", standard: "true"),
        .choice("minimum", \.minimum, minimum),
        .key(
            "hosts", .list(.object(upstreamHost)),
            "Settings for some hosts. For each key, the first matching entry counts.",
            standard: "[]"))

    static let upstreamHost = ObjectShape(
        "upstream_host",
        Key("host", .oneOrMany(.text(.destination)), "Origins that the entry applies to.", isRequired: true),
        Key("verify", .boolean, "false: do not verify the origin's certificate."),
        Key("minimum", .choice(TLSVersion.allCases.map(\.rawValue)), minimum),
        Key(
            "pins", .oneOrMany(.text(.pin)),
            "SHA-256 of public keys, as sha256/BASE64. The origin's chain must contain one.", standard: "[]"))
}
