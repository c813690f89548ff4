internal import Declaration
internal import Interception
internal import ProxyCore

/// All keys of the configuration with the shapes of their values. The loader refuses other keys, and the JSON Schema is generated
/// from this table. `Unavailable` lists keys that this build lacks.
enum KeyTable {
    /// Up to a day: no timeout of a proxy is longer.
    static let anyTime = Shape.duration(1...86_400_000)

    static let root: [Key] = [
        Key("version", .integer(1...1), "The version of the file format.", isRequired: true),
        Key(
            "listen", .oneOrMany(.text(.listener)),
            "Addresses to listen on. Port 0 picks a free one. With https://, clients reach the proxy over TLS.",
            standard: #"["127.0.0.1:3128", "[::1]:3128"]"#),
        Key("workers", .integerOr("auto", 1...1024), "Number of event loops; auto: one per core.", standard: "auto"),
        Key("clients", .object(.clients), "Clients that may use the proxy."),
        Key("names", .object(.names), "Resolution of host names."),
        Key("destinations", .object(.destinations), "Destinations that the proxy may connect to."),
        Key(
            "forwarded", .choice(ForwardedField.allCases.map(\.rawValue)),
            "The header field that tells origins the client's address.", standard: "none"),
        Key("http2", .object(.http2), "Use of HTTP/2."),
        Key("tls", .object(.tls), "TLS: the hosts to intercept, the CA for them, and the trust in origins."),
        Key("am", .list(.object(.server)), "AM servers whose traffic is recognised.", standard: "[]"),
        Key(
            "actions", .list(.object(.action)), "Custom Actions, for requests that are not a built-in one.",
            standard: "[]"),
        Key(
            "interceptors", .list(.object(.interceptor)),
            "Interceptors, in the order in which they run.", standard: "[]"),
        Key(
            "compatibility", .choice(ChainRules.Compatibility.allCases.map(\.rawValue)),
            "Rules for interceptors. none: Usher's own. cdt: those of CDTDatastore: edits persist over attempts, "
                + "the last one decides on a retry, and all share one state.",
            standard: "none"),
        Key(
            "response_order", .choice(ChainRules.ResponseOrder.allCases.map(\.rawValue)),
            "The order of interceptors for responses and errors: that of the file, or reversed.",
            standard: "file"),
        Key(
            "authorization", .oneOrMany(.object(.authorization)),
            "Transactional authorization. In a list (one entry per AM), the first entry that covers a request counts."
        ),
        Key(
            "tokens", .list(.object(.tokens)),
            "Bearer tokens that Usher adds. The first entry that covers a request counts.",
            standard: "[]"),
        Key(
            "devices", .list(.object(.device)), "Second factors that Usher plays for test users: codes and pushes.",
            standard: "[]"),
        Key("state", .object(.state), "The state directory."),
        Key("limits", .object(.limits), "Limits on sizes and numbers."),
        Key("timeouts", .object(.timeouts), "Time limits."),
        Key("log", .object(.log), "The log."),
        Key("journal", .object(.journal), "The recording of flows."),
        Key("tracing", .object(.tracing), "The export of traces. Without the key, none are exported."),
        Key("admin", .object(.admin), "The admin API of the running daemon."),
    ]

    static let clients: [Key] = [
        Key(
            "allow", .oneOrMany(.text(.client)), "Addresses that may connect: loopback, addresses, CIDR blocks.",
            standard: "[loopback]"),
        Key(
            "basic", .object(.basic),
            "Requires a user name and a password of clients. Required if allow has more than loopback."),
        Key(
            "proxy_protocol", .oneOrMany(.text(.client)),
            "Load balancers whose connections start with a PROXY protocol header.", standard: "[]"),
    ]

    static let basic: [Key] = [
        Key("users", .text(.passwords), "User names with bcrypt hashes of their passwords.", isRequired: true)
    ]

    static let names: [Key] = [
        Key(
            "servers", .oneOrMany(.text(.nameServer)), "Name servers. Without the key, those of /etc/resolv.conf.",
            standard: "[]")
    ]

    static let http2: [Key] = [
        Key("clients", .boolean, "Use HTTP/2 with clients that offer it.", standard: "true"),
        Key("origins", .boolean, "Use HTTP/2 with origins that select it.", standard: "true"),
        Key(
            "cleartext", .oneOrMany(.text(.destination)),
            "Origins without TLS that support HTTP/2, written as in destinations.allow.", standard: "[]"),
        Key("streams", .integer(1...10_000), "Concurrent exchanges on one client connection.", standard: "100"),
    ]

    static let destinations: [Key] = [
        Key(
            "allow", .oneOrMany(.text(.destination)), "Permitted destinations. The most specific entry wins.",
            standard: #"["*"]"#),
        Key(
            "deny", .oneOrMany(.text(.destination)), "Denied destinations. At a tie with allow, deny wins.",
            standard: "[link-local, metadata]"),
        Key(
            "via", .list(.object(.via)),
            "Upstream proxies. The first entry that matches the request decides.",
            standard: "[]"),
        Key(
            "connect_ports", .oneOrMany(.integer(1...65535)), "Ports that CONNECT may use. Without the key, any port."),
    ]

    static let via: [Key] = [
        Key("host", .oneOrMany(.text(.hostGlob)), "Hosts or host globs of requests.", isRequired: true),
        Key("proxy", .text(.upstreamProxy), "The http URL of the proxy, or direct for none.", isRequired: true),
    ]

    static let server: [Key] = [
        Key("url", .text(.serverURL), "Base URL of AM. Requests to its host are recognised.", isRequired: true),
        Key(
            "realms", .oneOrMany(.text(.realm)), "Realms in which Usher may authenticate. The first is the default.",
            standard: "[/]"),
        Key("cookie", .text(.cookieName), "Name of the session cookie.", standard: "iPlanetDirectoryPro"),
        Key("paths", .object(.paths), "Paths of endpoints that differ from AM's defaults.", standard: "{}"),
        Key(
            "login_pages", .oneOrMany(.text(.serverURL)),
            "Login pages on other servers. A redirect to one of them, or to url, may carry an advice.", standard: "[]"),
    ]

    static let paths: [Key] = AuthorizationServer.Endpoint.allCases.map {
        Key($0.rawValue, .text(.path), "Path of the \($0.rawValue) endpoint, from the host's root.")
    }

    static let limits: [Key] = [
        Key("connections", .integer(1...1_000_000), "Concurrent client connections.", standard: "4096"),
        Key(
            "per_client", .integer(1...1_000_000),
            "Connections of one client: an address (a /64 of IPv6, all of loopback), or a user with a password. "
                + "Without the key, a quarter of connections, at least 64.", standard: "1024"),
        Key(
            "header", .size(256...(16 << 20), orUnlimited: false),
            "Size of the head of a request or response.", standard: "32KiB"),
        Key("header_fields", .integer(1...10_000), "Number of header fields.", standard: "128"),
        Key("url", .size(64...(16 << 20), orUnlimited: false), "Length of a URL.", standard: "16KiB"),
        Key("body", .size(0...Int.max, orUnlimited: true), "Size of a body.", standard: "unlimited"),
        Key(
            "buffered_body", .size(0...(1 << 30), orUnlimited: false),
            "The part of one body that Usher buffers to inspect it.",
            standard: "1MiB"),
        Key(
            "buffered", .size((64 << 10)...(64 << 30), orUnlimited: false),
            "The size of all buffered bodies together. One client may use half of it.", standard: "64MiB"),
        Key("retries", .integer(0...100), "Further attempts of one exchange, for whatever reason.", standard: "10"),
        Key(
            "idle_per_origin", .integer(0...10_000), "Idle connections to one origin, per worker.",
            standard: "64"),
        Key(
            "leaf_certificates", .integer(1...100_000), "Cached certificates for intercepted hosts.",
            standard: "1024"),
    ]

    static let timeouts: [Key] = [
        Key("resolve", anyTime, "The time to resolve a name.", standard: "5s"),
        Key("connect", anyTime, "The time to connect to an origin.", standard: "5s"),
        Key("tls", anyTime, "The time for a TLS handshake.", standard: "5s"),
        Key("header", anyTime, "The time from the first byte of a request to the end of its head.", standard: "10s"),
        Key("idle", anyTime, "The time without a byte, within and between requests.", standard: "60s"),
        Key("response", anyTime, "The time from the end of a request to its response.", standard: "60s"),
        Key("tunnel_idle", anyTime, "The time without a byte in a tunnel.", standard: "10m"),
        Key("pool_idle", anyTime, "The time that Usher keeps an idle connection to an origin.", standard: "30s"),
        Key(
            "half_closed", .duration(0...86_400_000),
            "The time to wait for the first byte of a response after the client closed its side. 0s: no limit.",
            standard: "5s"),
        Key(
            "drain", .duration(0...86_400_000), "The time that a drain waits for exchanges and tunnels.",
            standard: "30s"),
        Key(
            "attempts", .duration(0...86_400_000),
            "The time after its arrival in which retry may send a request again.",
            standard: "60s"),
    ]

    static let admin: [Key] = [
        Key(
            "socket", .text(.file),
            "Path of the control socket, relative to the runtime directory.",
            standard: "admin.sock"),
        Key(
            "group", .text(.group),
            "Name of the group that may open the socket. Without the key, the group of the daemon's process."),
        Key(
            "listen", .orNull(.text(.adminAddress)),
            "Address and port of the admin API over TCP, for clients with the token. Without the key, none."
        ),
        Key(
            "token", .secret(.password),
            "The token that listen requires as Authorization: Bearer: a reference, at least 16 bytes."),
    ]

    static let log: [Key] = [
        Key(
            "access", .choice(LogSettings.Access.allCases.map(\.rawValue)),
            "Format of the access log.", standard: "json"),
        Key(
            "show", .oneOrMany(.text(.name)),
            "Query parameters whose values the log shows, besides harmless ones.", standard: "[]"),
        Key(
            "to", .text(.logTarget), "Destination: stdout, journald, or the path of a file to append to.",
            standard: "stdout"),
        Key("level", .choice(LogSettings.Level.allCases.map(\.rawValue)), "Log level.", standard: "info"),
    ]

    static let tracing: [Key] = [
        Key(
            "endpoint", .text(.serverURL),
            "URL of the collector (OTLP over HTTP, in JSON). The default path is /v1/traces.", isRequired: true),
        Key(
            "sample", .text(.share),
            "The share of traces started here that are exported, from 0 to 1. A continued trace keeps its decision.",
            standard: "1"),
        Key("service_name", .text(.label), "The name of the daemon in traces.", standard: "usher"),
    ]
}
