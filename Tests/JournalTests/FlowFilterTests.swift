import Journal
import Testing

/// Which flows a filter takes, and what it says of one that is none.
struct FlowFilterTests {
    private static let now = 1_700_000_060_000

    private static func takes(_ terms: String..., flow: PackedFlow) throws -> Bool {
        try FlowFilter(terms, now: now).accepts(flow)
    }

    private static let flow = FlowSamples.flow {
        $0.id = 0xAB12
        $0.action = "AUTHENTICATE"
        $0.realm = "/alpha"
        $0.tree = "Login"
        $0.status = 401
        $0.flags = [.requestEdited, .steppedUp]
        $0.error = "connection_refused"
        $0.requestBody = [UInt8](repeating: 0x61, count: 2048)
    }

    @Test(
        "A term accepts the flows that it describes",
        arguments: [
            "action=AUTHENTICATE", "action=JOURNEY_NEXT", "action=AUTH*", "action=~^AUTH", "action=LOGOUT,AUTHENTICATE",
            "tree=Login", "tree=*", "realm=/alpha", "platform=android", "scheme=https", "scheme=HTTPS", "host=am.test",
            "host=AM.test.", "host=*.test", "port=443", "port=8443,443", "path=/am/json/authenticate", "path=/am/*",
            "path=~authenticate$", "method=GET", "header.x-requested-PLATFORM=andr*", "header.host=am.test",
            "query.realm=/alpha", "query.x=a b", "query.x=*", "cookie.session=session#3", "cookie.a=1", "status=401",
            "status=4xx", "status=400-499", "status=40*", "status=2xx,4xx", "content_type=application/json",
            "content_type=*/JSON", "flow=ab12", "flow=AB12", "client=127.0.0.1", "client=127.*", "error=*",
            "error=connection_refused", "slower=12ms", "larger=2KiB", "since=2m", "since=2023-11-14T22:13:20Z",
            "until=2023-11-14T22:13:20Z", "changed=yes", "changed=request", "step_up=yes", "calls=yes",
            "status!=2xx", "not status=2xx", "not not status=401", "changed!=response", "host!=other.test",
            "header.absent!=*", "tree!=~^X",
        ])
    func holds(_ term: String) throws { #expect(try Self.takes(term, flow: Self.flow)) }

    @Test(
        "A term rejects all other flows",
        arguments: [
            "action=LOGOUT", "tree=login", "realm=/", "platform=ios", "scheme=http", "host=test", "port=80",
            "path=/am", "path=/am/json/authenticate/", "method=get", "header.platform=android", "header.x=*",
            "header.x-requested-platfor=*", "header.requested-platform=*", "query.realm=%2Falpha", "query.y=*",
            "query.alm=*", "cookie.session=session#4", "cookie.A=1", "cookie.essio=*", "status=200", "status=5xx",
            "content_type=application", "flow=ab1", "parent=*", "client=127.0.0.2", "user=*", "error=timeout",
            "slower=13ms", "larger=2049B", "since=30s", "until=2023-11-14T22:13:19Z", "changed=response",
            "calls=only", "status!=4xx", "not changed=yes",
        ])
    func fails(_ term: String) throws { #expect(try !Self.takes(term, flow: Self.flow)) }

    @Test("All terms have to hold, and `not` negates only the next one")
    func several() throws {
        #expect(try Self.takes("status=4xx", "host=am.test", flow: Self.flow))
        #expect(try !Self.takes("status=4xx", "host=other.test", flow: Self.flow))
        #expect(try Self.takes("not", "host=other.test", "status=4xx", flow: Self.flow))
        #expect(try !Self.takes("not", "host=am.test", "status=4xx", flow: Self.flow))
    }

    @Test("Usher's own calls are excluded unless a term selects them")
    func calls() throws {
        let call = FlowSamples.flow { ($0.id, $0.parent) = (9, 0xAB12) }
        #expect(!FlowFilter().accepts(call))
        for term in ["calls=yes", "calls=only", "parent=ab12", "parent=*", "flow=9", "not calls=no"] {
            #expect(try Self.takes(term, flow: call), "\(term)")
        }
        #expect(try !Self.takes("calls=no", flow: call))
        #expect(try !Self.takes("parent=ab13", flow: call))
    }

    @Test("A flow without path, response and fields matches no term about these")
    func bare() throws {
        let tunnel = FlowSamples.flow {
            ($0.method, $0.scheme, $0.target, $0.status, $0.request, $0.response) = ("CONNECT", 0, "", 0, "", "")
        }
        for term in ["path=*", "status=*", "scheme=*", "header.host=*", "content_type=*", "query.a=*", "cookie.a=*"] {
            #expect(try !Self.takes(term, flow: tunnel), "\(term)")
        }
        #expect(try Self.takes("method=CONNECT", flow: tunnel))
        let root = FlowSamples.flow { $0.target = "?a=1" }
        #expect(try Self.takes("path=/", "query.a=1", flow: root))
    }

    @Test("A client matches with or without its port")
    func clients() throws {
        let flow = FlowSamples.flow { $0.client = "127.0.0.1:49152" }
        for term in ["client=127.0.0.1", "client=127.0.0.1:49152", "client=*.1", "client=127.*"] {
            #expect(try Self.takes(term, flow: flow), "\(term)")
        }
        #expect(try !Self.takes("client=127.0.0.1:4915", flow: flow) && !Self.takes("client=27.0.0.1", flow: flow))
        let other = FlowSamples.flow { $0.client = "[::1]:49152" }
        #expect(try Self.takes("client=::1", flow: other) && Self.takes("client=[::1]:*", flow: other))
    }

    @Test("Commas separate values, except inside a regular expression")
    func commas() throws {
        #expect(try Self.takes("path=~^/a{2,3}m/json,?", flow: FlowSamples.flow { $0.target = "/aam/json" }))
        #expect(try Self.takes("method=POST,~^G", flow: Self.flow))
    }

    @Test(
        "An invalid filter is reported with a suggestion",
        arguments: [
            ("statsu=401", "did you mean status?"), ("status", "write key=value"), ("status=", "has no value"),
            ("status=abc", "status takes"), ("status=600", "status takes"), ("port=0", "port takes"),
            ("port=+80", "port takes"), ("scheme=ftp", "scheme takes"), ("path=am", "path begins with /"),
            ("path=/a?b", "without the query"), ("header=x", "header.NAME=value"), ("header.=x", "header.NAME=value"),
            ("heeder.x=1", "did you mean header.?"), ("flow=xyz", "flow takes ids"),
            ("flow=12345678901234567", "flow takes ids"), ("slower=10", "slower takes a duration"),
            ("slower=-1ms", "slower takes a duration"), ("larger=10ms", "larger takes a size"),
            ("since=tomorrow", "since takes how long ago"), ("changed=maybe", "changed takes"),
            ("calls=perhaps", "calls takes"), ("session=mine", "the id of a test session"),
            ("action=~(", "not a valid regular expression"),
            ("path=~(a+)+$", "avoid nested repeats"), ("=x", "is not a key"), ("not", "comes before a filter"),
        ])
    func faults(_ term: String, _ words: String) {
        #expect {
            _ = try FlowFilter([term], now: 0)
        } throws: { error in
            "\(error)".contains(words)
        }
    }

    @Test("Spaces separate terms, except inside quotes")
    func splitting() throws {
        #expect(
            FlowFilter.split(#"status=4xx  "query.x=a b" not host=c"#) == [
                "status=4xx", "query.x=a b", "not", "host=c",
            ])
        #expect(FlowFilter.split("  ").isEmpty)
    }
}
