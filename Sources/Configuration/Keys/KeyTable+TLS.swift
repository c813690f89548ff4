internal import Declaration
internal import ProxyCore
internal import TLSEngine

extension KeyTable {
    static let tls: [Key] = [
        Key(
            "intercept", .oneOrMany(.text(.destination)),
            "Hosts whose TLS is opened; everything else is tunnelled unopened.", standard: "[]"),
        Key(
            "except", .oneOrMany(.text(.destination)), "Hosts that are left alone though intercept names them.",
            standard: "[]"),
        Key(
            "on_refusal", .choice(InterceptionPolicy.OnRefusal.allCases.map(\.rawValue)),
            "What becomes of a host whose certificate a client refuses again and again; tunnel: it is left alone for that client, for an hour.",
            standard: "fail"),
        Key(
            "key_log", .boolean, "Allows SSLKEYLOGFILE: whoever has that file reads what was recorded of the network.",
            standard: "false"),
        Key("ca", .object(.authority), "The CA that signs the certificates of intercepted hosts. Usher makes it at the first start."),
        Key(
            "listener", .object(.listenerIdentity),
            "What https:// listeners show; without it, a certificate of Usher's own CA."),
        Key("upstream", .object(.upstreamTLS), "How far origins are trusted."),
        Key(
            "client_certificates", .list(.object(.clientCertificate)),
            "What is shown to origins that ask for a certificate; the first entry that fits decides.", standard: "[]"),
    ]

    static let authority: [Key] = [
        Key("certificate", .text(.file), "The CA's certificate, in the state directory.", standard: "ca.pem"),
        Key("key", .secret(.key), "The CA's key, in the state directory, or a reference to it.", standard: "ca.key"),
        Key(
            "constrain_to", .oneOrMany(.text(.constraint)),
            "Domains, addresses and CIDR blocks beyond which clients believe the CA nothing."),
    ]

    static let listenerIdentity = identity

    static let clientCertificate =
        [Key("host", .oneOrMany(.text(.destination)), "Origins that it is shown to.", isRequired: true)] + identity

    private static let identity = [
        Key(
            "certificate", .text(.file),
            "The file of the certificate and of those between it and the root, in PEM; or a .p12, which holds the key too.",
            isRequired: true),
        Key("key", .secret(.key), "The file of the private key in PEM, or a reference to it."),
        Key("password", .secret(.password), "What the key or the .p12 is encrypted with, as a reference."),
    ]

    private static let minimum = Key(
        "minimum", .choice(TLSVersion.allCases.map(\.rawValue)), "The oldest version of TLS that is spoken.",
        standard: "\"1.2\"")

    static let upstreamTLS: [Key] = [
        Key("trust", .choice(["system", "none"]), "Whether the system's store is trusted.", standard: "system"),
        Key("extra_trust", .oneOrMany(.text(.file)), "Files of further roots, PEM or DER.", standard: "[]"),
        Key(
            "crl", .oneOrMany(.text(.file)),
            "Files of revocation lists, PEM or DER; where there are any, revocation is checked.", standard: "[]"),
        Key("verify", .boolean, "Always true; single hosts may be left out under hosts.", standard: "true"),
        minimum,
        Key(
            "hosts", .list(.object(.upstreamHost)), "What holds for some hosts alone; of each key the first that fits.",
            standard: "[]"),
    ]

    static let upstreamHost: [Key] = [
        Key("host", .oneOrMany(.text(.destination)), "Origins that it holds for.", isRequired: true),
        Key("verify", .boolean, "False: the origin's certificate is not verified at all."),
        Key("minimum", minimum.shape, minimum.doc),
        Key(
            "pins", .oneOrMany(.text(.pin)),
            "SHA-256 of public keys, as sha256/BASE64, one of which has to be in the origin's chain.", standard: "[]"),
    ]
}
