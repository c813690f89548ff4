internal import Declaration
internal import Interception
internal import ProxyCore

/// All keys of the configuration with the shapes of their values. The loader refuses other keys, and the JSON Schema is generated
/// from this table. `Unavailable` lists keys that this build lacks.
enum KeyTable {
    /// Up to a day: no timeout of a proxy is longer.
    static let anyTime = Shape.duration(1...86_400_000)

    static let root: [Key] = [
        Key("version", .integer(1...1), "The version of this file's form.", isRequired: true),
        Key(
            "listen", .oneOrMany(.text(.listener)),
            "Addresses to listen on; port 0 takes a free one, and https:// in front makes the proxy itself speak TLS.",
            standard: #"["127.0.0.1:3128", "[::1]:3128"]"#),
        Key("workers", .integerOr("auto", 1...1024), "Event loops; auto: one per core.", standard: "auto"),
        Key("clients", .object(.clients), "Who may use the proxy."),
        Key("names", .object(.names), "Whom the addresses of names are asked of."),
        Key("destinations", .object(.destinations), "Where the proxy may connect to."),
        Key(
            "forwarded", .choice(ForwardedField.allCases.map(\.rawValue)),
            "Whether origins are told whose request it is, and how.", standard: "none"),
        Key("http2", .object(.http2), "Where HTTP/2 is spoken."),
        Key("tls", .object(.tls), "TLS: whose is opened, by which CA, and how far origins are trusted."),
        Key("am", .list(.object(.server)), "Servers whose traffic is recognised.", standard: "[]"),
        Key(
            "actions", .list(.object(.action)), "Actions of one's own, for requests that are no known one.",
            standard: "[]"),
        Key("interceptors", .list(.object(.interceptor)), "What is changed, in this order.", standard: "[]"),
        Key(
            "compatibility", .choice(ChainRules.Compatibility.allCases.map(\.rawValue)),
            "Whose rules interceptors keep to: none for Usher's own; cdt for those of CDTDatastore, where edits persist from one "
                + "attempt to the next, the last one decides on a retry, and all share one state.",
            standard: "none"),
        Key(
            "response_order", .choice(ChainRules.ResponseOrder.allCases.map(\.rawValue)),
            "In which order interceptors see what came of a request: as they stand in the file, or the other way round.",
            standard: "file"),
        Key(
            "authorization", .oneOrMany(.object(.authorization)),
            "Transactional authorization: advice, authenticate, replay. A list has an entry for each AM; the first that covers a request counts."
        ),
        Key(
            "tokens", .list(.object(.tokens)),
            "Bearer tokens that go along; the first entry that covers a request counts.",
            standard: "[]"),
        Key(
            "devices", .list(.object(.device)), "Second factors that Usher plays for test users: codes and pushes.",
            standard: "[]"),
        Key("state", .object(.state), "What is kept in the state directory."),
        Key("limits", .object(.limits), "Limits."),
        Key("timeouts", .object(.timeouts), "Timeouts."),
        Key("log", .object(.log), "What is logged."),
        Key("journal", .object(.journal), "What is kept of what went through, for whoever asks."),
        Key("tracing", .object(.tracing), "Traces that are exported; without the key, none are."),
        Key("admin", .object(.admin), "How the running daemon is spoken to."),
    ]

    static let clients: [Key] = [
        Key(
            "allow", .oneOrMany(.text(.client)), "Addresses that may connect: loopback, addresses, CIDR blocks.",
            standard: "[loopback]"),
        Key("basic", .object(.basic), "Clients have to show a user name and a password. Needed beyond loopback."),
        Key(
            "proxy_protocol", .oneOrMany(.text(.client)),
            "Balancers whose connections begin with a header of the PROXY protocol.", standard: "[]"),
    ]

    static let basic: [Key] = [
        Key("users", .text(.passwords), "Names and hashes of passwords, bcrypt alone.", isRequired: true)
    ]

    static let names: [Key] = [
        Key(
            "servers", .oneOrMany(.text(.nameServer)), "Name servers; without the key, those of /etc/resolv.conf.",
            standard: "[]")
    ]

    static let http2: [Key] = [
        Key("clients", .boolean, "With clients that offer it.", standard: "true"),
        Key("origins", .boolean, "With origins that choose it.", standard: "true"),
        Key(
            "cleartext", .oneOrMany(.text(.destination)),
            "Origins without TLS that are known to speak it, as in destinations.allow.", standard: "[]"),
        Key("streams", .integer(1...10_000), "Exchanges at one time on one client's connection.", standard: "100"),
    ]

    static let destinations: [Key] = [
        Key(
            "allow", .oneOrMany(.text(.destination)), "Permitted destinations; the most specific entry wins.",
            standard: #"["*"]"#),
        Key(
            "deny", .oneOrMany(.text(.destination)), "Refused destinations; wins where both are as specific.",
            standard: "[link-local, metadata]"),
        Key(
            "via", .list(.object(.via)),
            "Requests that are sent on to another proxy; the first entry that fits decides.",
            standard: "[]"),
        Key(
            "connect_ports", .oneOrMany(.integer(1...65535)), "Ports that CONNECT may go to; without the key, any."),
    ]

    static let via: [Key] = [
        Key("host", .oneOrMany(.text(.hostGlob)), "Hosts or host globs that are asked for.", isRequired: true),
        Key("proxy", .text(.upstreamProxy), "The proxy as an http URL, or direct for none.", isRequired: true),
    ]

    static let server: [Key] = [
        Key("url", .text(.serverURL), "Base URL; requests to its host are recognised.", isRequired: true),
        Key(
            "realms", .oneOrMany(.text(.realm)), "Realms that Usher may authenticate in; the first is the default.",
            standard: "[/]"),
        Key("cookie", .text(.cookieName), "Name of the session cookie.", standard: "iPlanetDirectoryPro"),
        Key("paths", .object(.paths), "Endpoints that are not where AM has them.", standard: "{}"),
        Key(
            "login_pages", .oneOrMany(.text(.serverURL)),
            "Pages elsewhere that sign users in; a redirect there, or to url, may carry an advice.", standard: "[]"),
    ]

    static let paths: [Key] = AuthorizationServer.Endpoint.allCases.map {
        Key($0.rawValue, .text(.path), "Path of the \($0.rawValue) endpoint, from the host's root.")
    }

    static let limits: [Key] = [
        Key("connections", .integer(1...1_000_000), "Client connections at one time.", standard: "4096"),
        Key(
            "per_client", .integer(1...1_000_000),
            "How many of them one client may hold: an address (a /64 of IPv6, all of loopback), or a user that has shown a "
                + "password. Without the key a quarter of connections, and 64 at least.", standard: "1024"),
        Key("header", .size(256...(16 << 20), orUnlimited: false), "Size of a head.", standard: "32KiB"),
        Key("header_fields", .integer(1...10_000), "Fields of a head.", standard: "128"),
        Key("url", .size(64...(16 << 20), orUnlimited: false), "Length of a URL.", standard: "16KiB"),
        Key("body", .size(0...Int.max, orUnlimited: true), "Size of a body.", standard: "unlimited"),
        Key(
            "buffered_body", .size(0...(1 << 30), orUnlimited: false), "The most that is held of one body to look at.",
            standard: "1MiB"),
        Key(
            "buffered", .size((64 << 10)...(64 << 30), orUnlimited: false),
            "How much is held of all bodies together; one client may have half of it.", standard: "64MiB"),
        Key("retries", .integer(0...100), "Further attempts of one exchange, whoever asks for them.", standard: "10"),
        Key(
            "idle_per_origin", .integer(0...10_000), "Idle connections kept for one origin, by each worker.",
            standard: "64"),
        Key(
            "leaf_certificates", .integer(1...100_000), "Certificates made for intercepted hosts that are kept.",
            standard: "1024"),
    ]

    static let timeouts: [Key] = [
        Key("resolve", anyTime, "Until a name has an address.", standard: "5s"),
        Key("connect", anyTime, "Until a connection to an origin stands.", standard: "5s"),
        Key("tls", anyTime, "Until a TLS handshake is done.", standard: "5s"),
        Key("header", anyTime, "From a request's first byte to the end of its head.", standard: "10s"),
        Key("idle", anyTime, "Without a byte, within and between requests.", standard: "60s"),
        Key("response", anyTime, "From the end of a request to its response.", standard: "60s"),
        Key("tunnel_idle", anyTime, "Without a byte in a tunnel.", standard: "10m"),
        Key("pool_idle", anyTime, "How long an idle connection to an origin is kept.", standard: "30s"),
        Key(
            "half_closed", .duration(0...86_400_000),
            "How long a client that closed its side is waited for with, while nothing of the answer has come; 0s for ever.",
            standard: "5s"),
        Key(
            "drain", .duration(0...86_400_000), "How long the end waits for exchanges and tunnels under way.",
            standard: "30s"),
        Key(
            "attempts", .duration(0...86_400_000), "How long after a request came it may be sent again by retry.",
            standard: "60s"),
    ]

    static let admin: [Key] = [
        Key(
            "socket", .text(.file),
            "Path of the control socket; without a slash in front, from the runtime directory on.",
            standard: "admin.sock"),
        Key(
            "group", .text(.group),
            "The group whose members may open the socket, by its name; without the key, that of the daemon's process."),
        Key(
            "listen", .orNull(.text(.adminAddress)),
            "An address and port where the same is answered over TCP, to whoever shows the token; without the key, nowhere."
        ),
        Key(
            "token", .secret(.password),
            "What Authorization: Bearer has to hold there, as a reference; 16 bytes at least."),
    ]

    static let log: [Key] = [
        Key("access", .choice(LogSettings.Access.allCases.map(\.rawValue)), "Lines per exchange.", standard: "json"),
        Key(
            "show", .oneOrMany(.text(.name)),
            "Query parameters whose values stand in the log, beside those that are harmless anyway.", standard: "[]"),
        Key(
            "to", .text(.logTarget), "Where it goes: stdout, journald, or the path of a file, which is added to.",
            standard: "stdout"),
        Key("level", .choice(LogSettings.Level.allCases.map(\.rawValue)), "How much is told.", standard: "info"),
    ]

    static let tracing: [Key] = [
        Key(
            "endpoint", .text(.serverURL),
            "Where spans are posted to, as OTLP in JSON. A URL without a path gets /v1/traces.", isRequired: true),
        Key(
            "sample", .text(.share),
            "Of the traces that begin here, how many are exported, from 0 to 1. Whoever continues one decided already.",
            standard: "1"),
        Key("service_name", .text(.label), "What the daemon is called in traces.", standard: "usher"),
    ]
}
