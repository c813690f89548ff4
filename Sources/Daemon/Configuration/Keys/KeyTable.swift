internal import Declaration
internal import Interception
internal import ProxyCore

/// All keys of the configuration with the shapes of their values. The loader refuses other keys, and the JSON Schema and
/// docs/reference.md are generated from this table. `Unavailable` lists keys that this build lacks.
enum KeyTable {
    /// Up to a day: no timeout of a proxy is longer.
    static let anyTime = Shape.duration(1...86_400_000)

    static let root = ObjectShape("root", rootKeys)
    private static let rootKeys: [Key] =
        [
            Key("version", .integer(1...1), "The version of the file format.", isRequired: true),
            Key(
                "listen", .oneOrMany(.text(.listener)),
                "Addresses to listen on. Port 0 picks a free one. With https://, clients reach the proxy over TLS.",
                standard: #"["127.0.0.1:3128", "[::1]:3128"]"#),
            Key(
                "workers", .integerOr("auto", 1...1024), "Number of event loops; auto: one per core.", standard: "auto"),
            Key("clients", .object(clients), "Clients that may use the proxy."),
            Key("names", .object(names), "Resolution of host names."),
            Key(
                "destinations", .object(destinations.shape("destinations")),
                "Destinations that the proxy may connect to."),
            Key(
                "guard", .object(safeguard.shape("guard")),
                "The hosts that Usher may reach at all: a safeguard, beside destinations."),
            Key(
                "environments", .list(.object(environment.shape("environment"))),
                "Hosts with a label, and what Usher may do to them. The first entry that matches a host counts.",
                standard: "[]"),
            Key(
                "forwarded", .choice(ForwardedField.allCases.map(\.rawValue)),
                "The header field that tells origins the client's address.", standard: "none"),
            Key("http2", .object(http2.shape("http2")), "Use of HTTP/2."),
            Key(
                "tls", .object(tls.shape("tls")),
                "TLS: the hosts to intercept, the CA for them, and the trust in origins."),
            Key(
                "am", .list(.object(server.shape("server"))), "AM servers whose traffic is recognised.", standard: "[]"),
            Key(
                "actions", .list(.object(action)), "Custom Actions, for requests that are not a built-in one.",
                standard: "[]"),
            Key(
                "interceptors", .list(.object(interceptor)),
                "Interceptors, in the order in which they run.", standard: "[]"),
        ] + chain.keys + [
            Key(
                "authorization", .oneOrMany(.object(authorization)),
                "Transactional authorization. In a list (one entry per AM), the first entry that covers a request counts."
            ),
            Key(
                "tokens", .list(.object(tokens.shape("tokens"))),
                "Bearer tokens that Usher adds. The first entry that covers a request counts.",
                standard: "[]"),
            Key(
                "devices", .list(.object(device.shape("device"))),
                "Second factors that Usher plays for test users: codes and pushes.",
                standard: "[]"),
            Key("state", .object(state), "The state directory."),
            Key("limits", .object(limits.shape("limits")), "Limits on sizes and numbers."),
            Key("timeouts", .object(timeouts.shape("timeouts")), "Time limits."),
            Key("log", .object(log.shape("log")), "The log."),
            Key("journal", .object(journal.shape("journal")), "The recording of flows."),
            expect,
            Key(
                "robots", .list(.object(robot)),
                "Test users. A test session may borrow one, which no other session gets meanwhile.", standard: "[]"),
            Key(
                "tracing", .object(tracing.shape("tracing")),
                "The export of traces. Without the key, none are exported."),
            Key("admin", .object(admin), "The admin API of the running daemon."),
        ]

    /// What a test session may add. Everything else is the daemon's.
    static let overlay = ObjectShape(
        "overlay",
        Key("version", .integer(1...1), "The version of the file format."),
        Key("interceptors", .list(.object(interceptor)), "Interceptors that run before the others.", standard: "[]"),
        Key("after", .list(.object(interceptor)), "Interceptors that run after the others.", standard: "[]"),
        Key(
            "authorization",
            .object(
                ObjectShape(
                    "session_authorization",
                    Key(
                        "answers", .list(.object(callbackAnswer)),
                        "Answers to callbacks, tried before the others.", standard: "[]"))),
            "Additions to all entries of authorization."),
        Key(
            "tokens", .list(.object(tokens.shape("tokens"))), "Bearer tokens, tried before the others.",
            standard: "[]"),
        expect)

    static let robot = ObjectShape(
        "robot",
        Key("user", .text(.name), "The user's name, which answers every NameCallback.", isRequired: true),
        Key("password", .text(.any), "The password, which answers every PasswordCallback that no answer matches."),
        Key(
            "answers", .list(.object(callbackAnswer)), "Answers that come first, such as one-time passwords.",
            standard: "[]"))

    private static let expect = Key(
        "expect", .oneOrMany(.object(expectation)),
        "What the recorded traffic has to show, for usher verify, usher run and test sessions.", standard: "[]")

    static let chain = KeyGroup(
        ChainRules(),
        .choice(
            "compatibility", \.compatibility,
            "Rules for interceptors. none: Usher's own. cdt: those of CDTDatastore: edits persist over attempts, "
                + "the last one decides on a retry, and all share one state."),
        .choice(
            "response_order", \.responseOrder,
            "The order of interceptors for responses and errors: that of the file, or reversed."))

    static let clients = ObjectShape(
        "clients",
        Key(
            "allow", .oneOrMany(.text(.client)), "Addresses that may connect: loopback, addresses, CIDR blocks.",
            standard: "[loopback]"),
        Key(
            "basic", .object(basic),
            "Requires a user name and a password of clients. Required if allow has more than loopback."),
        Key(
            "proxy_protocol", .oneOrMany(.text(.client)),
            "Load balancers whose connections start with a PROXY protocol header.", standard: "[]"))

    static let basic = ObjectShape(
        "basic",
        Key("users", .text(.passwords), "User names with bcrypt hashes of their passwords.", isRequired: true))

    static let names = ObjectShape(
        "names",
        Key(
            "servers", .oneOrMany(.text(.nameServer)), "Name servers. Without the key, those of /etc/resolv.conf.",
            standard: "[]"))

    static let http2 = KeyGroup(
        HTTP2Settings(),
        .flag("clients", \.clients, "Use HTTP/2 with clients that offer it."),
        .flag("origins", \.origins, "Use HTTP/2 with origins that select it."),
        .key(
            "cleartext", \.cleartext, .oneOrMany(.text(.destination)),
            "Origins without TLS that support HTTP/2, written as in destinations.allow.", standard: "[]"
        ) { $0.patterns },
        .number("streams", \.streams, .integer(1...10_000), "Concurrent exchanges on one client connection."))

    static let destinations = KeyGroup(
        DestinationPolicy(),
        .key(
            "allow", \.allow, .oneOrMany(.text(.destination)),
            "Permitted destinations. The most specific entry wins.", standard: #"["*"]"#
        ) { $0.patterns },
        .key(
            "deny", \.deny, .oneOrMany(.text(.destination)),
            "Denied destinations. At a tie with allow, deny wins.", standard: "[link-local, metadata]"
        ) { $0.patterns },
        .key(
            "via", .list(.object(via)),
            "Upstream proxies. The first entry that matches the request decides.",
            standard: "[]"),
        .key(
            "connect_ports", .oneOrMany(.integer(1...65535)), "Ports that CONNECT may use. Without the key, any port."))

    static let safeguard = KeyGroup(
        DestinationPolicy(allow: [], deny: []),
        .key(
            "only", \.allow, .oneOrMany(.text(.destination)),
            "Hosts that Usher may reach, written as in destinations.allow. The most specific entry of both lists wins."
        ) { $0.patterns },
        .key(
            "never", \.deny, .oneOrMany(.text(.destination)),
            "Hosts that Usher never reaches. At a tie with only, never wins."
        ) { $0.patterns },
        .key(
            "unknown", .choice(["refuse", "pass"]),
            "Hosts in neither list. Without the key: refuse if there is only, else pass."))

    static let environment = KeyGroup(
        HostEnvironment(),
        .key("hosts", .oneOrMany(.text(.hostGlob)), "Hosts or host globs.", isRequired: true),
        .key(
            "label", \.label, .text(.label), "The name of the environment in messages.", isRequired: true
        ) { $0.text },
        .key(
            "allow", \.allows, .oneOrMany(.choice(Powers.words.map(\.key))),
            "What Usher may do there, beside to observe. edit: change messages. mock: respond. fault: delay, abort, break. "
                + "replay: send requests again. step_up: sign in unattended.",
            standard: "[\(Powers.words.map(\.key).joined(separator: ", "))]"
        ) { written in
            Powers(written.list.compactMap { item in Powers.words.first { $0.key == item.text }?.value })
        },
        .key(
            "rate", \.rate, .text(Limit.rate),
            "Requests to all these hosts together, of all clients and of Usher: 10/s, 100/m, 1000/h. Others get 429."
        ) { $0.text.flatMap { LimitPolicy.Rate($0) } })

    static let via = ObjectShape(
        "via",
        Key("host", .oneOrMany(.text(.hostGlob)), "Hosts or host globs of requests.", isRequired: true),
        Key("proxy", .text(.upstreamProxy), "The http URL of the proxy, or direct for none.", isRequired: true))

    static let server = KeyGroup(
        AuthorizationServer(url: "", host: ""),
        .key("url", .text(.serverURL), "Base URL of AM. Requests to its host are recognised.", isRequired: true),
        .key(
            "realms", .oneOrMany(.text(.realm)), "Realms in which Usher may authenticate. The first is the default.",
            standard: "[/]"),
        .text("cookie", \.cookie, .cookieName, "Name of the session cookie."),
        .key("paths", .object(paths), "Paths of endpoints that differ from AM's defaults.", standard: "{}"),
        .key(
            "login_pages", .oneOrMany(.text(.serverURL)),
            "Login pages on other servers. A redirect to one of them, or to url, may carry an advice.", standard: "[]"))

    static let paths = ObjectShape(
        "paths",
        AuthorizationServer.Endpoint.allCases.map {
            Key($0.rawValue, .text(.path), "Path of the \($0.rawValue) endpoint, from the host's root.")
        })

    static let limits = KeyGroup(
        Limits(),
        .number("connections", \.connections, .integer(1...1_000_000), "Concurrent client connections."),
        .number(
            "per_client", \.perClient, .integer(1...1_000_000),
            "Connections of one client: an address (a /64 of IPv6, all of loopback), or a user with a password. "
                + "Without the key, a quarter of connections, at least 64."),
        .number(
            "header", \.header, .size(256...(16 << 20), orUnlimited: false),
            "Size of the head of a request or response."),
        .number("header_fields", \.headerFields, .integer(1...10_000), "Number of header fields."),
        .number("url", \.url, .size(64...(16 << 20), orUnlimited: false), "Length of a URL."),
        .key("body", \.body, .size(0...Int.max, orUnlimited: true), "Size of a body.", standard: "unlimited") {
            $0.number.map(UInt64.init)
        },
        .number(
            "buffered_body", \.bufferedBody, .size(0...(1 << 30), orUnlimited: false),
            "The part of one body that Usher buffers to inspect it."),
        .number(
            "buffered", \.buffered, .size((64 << 10)...(64 << 30), orUnlimited: false),
            "The size of all buffered bodies together. One client may use half of it."),
        .number("retries", \.retries, .integer(0...100), "Further attempts of one exchange, for whatever reason."),
        .number(
            "idle_per_origin", \.idlePerOrigin, .integer(0...10_000), "Idle connections to one origin, per worker."),
        .number(
            "leaf_certificates", \.leafCertificates, .integer(1...100_000), "Cached certificates for intercepted hosts."
        ))

    static let timeouts = KeyGroup(
        Timeouts(),
        .number("resolve", \.resolve, anyTime, "The time to resolve a name."),
        .number("connect", \.connect, anyTime, "The time to connect to an origin."),
        .number("tls", \.tls, anyTime, "The time for a TLS handshake."),
        .number("header", \.header, anyTime, "The time from the first byte of a request to the end of its head."),
        .number("idle", \.idle, anyTime, "The time without a byte, within and between requests."),
        .number("response", \.response, anyTime, "The time from the end of a request to its response."),
        .number("tunnel_idle", \.tunnelIdle, anyTime, "The time without a byte in a tunnel."),
        .number("pool_idle", \.poolIdle, anyTime, "The time that Usher keeps an idle connection to an origin."),
        .number(
            "half_closed", \.halfClosed, .duration(0...86_400_000),
            "The time to wait for the first byte of a response after the client closed its side. 0s: no limit."),
        .number("drain", \.drain, .duration(0...86_400_000), "The time that a drain waits for exchanges and tunnels."),
        .number(
            "attempts", \.attempts, .duration(0...86_400_000),
            "The time after its arrival in which retry may send a request again."))

    static let admin = ObjectShape(
        "admin",
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
            "The token that listen requires as Authorization: Bearer: a reference, at least 16 bytes."))

    static let log = KeyGroup(
        LogSettings(),
        .choice("access", \.access, "Format of the access log."),
        .key(
            "show", .oneOrMany(.text(.name)), "Query parameters whose values the log shows, besides harmless ones.",
            standard: "[]"),
        .key(
            "to", \.target, .text(.logTarget),
            "Destination: stdout, journald, or the path of a file to append to.", standard: "stdout"
        ) { $0.text.flatMap { LogSettings.Target($0) } },
        .choice("level", \.level, "Log level."))

    static let tracing = KeyGroup(
        TracingSettings(endpoint: "", service: "usher"),
        .key(
            "endpoint", \.endpoint, .text(.serverURL),
            "URL of the collector (OTLP over HTTP, in JSON). The default path is /v1/traces.", isRequired: true
        ) { $0.text },
        .key(
            "sample", .text(.share),
            "The share of traces started here that are exported, from 0 to 1. A continued trace keeps its decision.",
            standard: "1"),
        .text("service_name", \.service, .label, "The name of the daemon in traces."))
}
