import Authorization
import Configuration
import Interception
import ProxyCore
import Testing

@Suite struct ValidDocumentTests {
    @Test func versionAloneIsAPlainProxy() throws {
        let snapshot = try snapshot("version: 1\n")
        #expect(snapshot.generation == 1)
        #expect(snapshot.file == "usher.yaml")
        #expect(snapshot.controlSocket == nil)
        #expect(snapshot.listeners.map(\.description) == ["127.0.0.1:3128", "[::1]:3128"])
        #expect(snapshot.workers == nil)
        #expect(snapshot.settings.servers.isEmpty && snapshot.settings.rules.isEmpty)
        #expect(snapshot.settings.authorization.isEmpty)
        #expect(snapshot.clients == ClientPolicy())
        #expect(snapshot.destinations == DestinationPolicy())
        #expect(snapshot.log == LogSettings())
        #expect(snapshot.warnings.isEmpty)
    }

    /// The example of the manual, reduced to what this version does.
    static let whole = """
        version: 1
        listen: ["127.0.0.1:3128", "[::1]:0"]
        workers: 3
        clients: { allow: [loopback, 127.0.0.0/8] }
        admin: { socket: /run/usher/own.sock, listen: null }
        tls:
          intercept: ["*.staging.example.com", "2001:db8::/32"]
          except: pinned.staging.example.com
          on_refusal: tunnel
          ca: { certificate: own.pem, key: own.key, constrain_to: [staging.example.com, "2001:db8::/32"] }
          upstream:
            trust: system
            minimum: 1.2
            hosts: [{ host: "*.example.org:443", minimum: "1.3", pins: ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="] }]
        destinations: { allow: ["*"], deny: [link-local, metadata], via: [] }
        am:
          - url: http://AM.staging.example.com:80/am/
            realms: [/, /alpha]
            cookie: iPlanetDirectoryPro
            login_pages: [https://Login.example.com:443/sign-in/]
            paths: { access_token: /token, par: /par }
          - url: https://[2001:db8::1]:8443
        actions:
          - name: TRANSFER
            when: { method: POST, path: /transfer }
        interceptors:
          - name: force-auth
            percent: 100
            when: { action: [START_AUTHENTICATE, JOURNEY_NEXT, TRANSFER], tree: Login }
            request:
              - set_query: { ForceAuth: true, max: 5, empty: "" }
              - add_header: { Accept-Language: en-GB }
          - name: member
            request:
              - set_cookie: { name: member, value: gold, domain: .Example.com, path: /, secure: true, http_only: true }
              - remove_cookie: tracker
                remove_header: [X-A, "X-B*"]
              - remove_query: [a]
          - name: rewrite
            when:
              any: [{ host: "*.example.com", port: 8080 }, { header: { X-Debug: "*" }, cookie: { a: "~^b" } }]
              not: { query: { keep: [1, true] } }
            request:
              - set_method: PUT
              - set_url: http://b.example.com/x?y
              - set_host: c.example.com:8081
              - set_path: /z
              - rewrite_url: { "~^http://(.*)": "http://proxy/$1" }
              - abort: { reason: enough }
          - name: no-address
            when: { action: USER_INFO, status: [200, 5xx, 400-499], content_type: application/json }
            response:
              - set_header: { Cache-Control: no-store }
              - set_status: 201
              - set_cookie: { name: a, value: b }
              - respond: { status: 503, headers: { Retry-After: 60 }, json: { error: maintenance, n: [1, true, null, "1"] } }
        authorization:
          resources:
            - http://shop.example.com/api/*
            - { url: "http://rest.example.com/*", present: "header:X-Tx", replay: safe, enforce: gateway }
            - { url: "http://app.example.com/*", advice: [header, body], trees: [StepUp, "/alpha:S*"], replay: any }
          am: http://am.staging.example.com/am
          when_client_handles_advice: act
          offer_header: false
          session: request_cookie
          present: { gateway: "query:tx", rest: "header:X-TxID" }
          hold: 2m
          limits: { steps: 7, answer: 64KiB }
          body_limit: 2MiB
          rounds: { upgrade: 0, transaction: 2 }
          lockout: { refusals: 0, hold: 1h }
          answers:
            - { callback: NameCallback, value: robot }
            - { callback: ChoiceCallback, prompt: "*confirm*", choose: "Yes" }
            - { callback: PasswordCallback, ask: true }
            - otherwise: ask
          notify: [notify-send, "--urgency=low", Usher]
          on_failure: original
        tokens: []
        limits: { connections: 10, header: 1KiB, header_fields: 5, url: 512B, body: 10MB, buffered_body: 0B }
        names: { servers: [192.0.2.53, "127.0.0.1:5353", "2001:db8::53", "[2001:db8::53]:5353"] }
        timeouts: { resolve: 7s, connect: 1ms, tls: 2s, header: 3s, idle: 4m, response: 5h, tunnel_idle: 24h }
        log: { access: none, level: debug, to: journald }
        tracing: { endpoint: "https://collector.example.com:4318/v1/traces", sample: 0.25, service_name: usher staging }
        """

    @Test func everyKeyArrives() throws {
        let snapshot = try snapshot(Self.whole)
        #expect(snapshot.controlSocket == "/run/usher/own.sock")
        #expect(snapshot.warnings.map(\.line) == [17], "AM is asked over plain http")
        #expect(snapshot.listeners.map(\.description) == ["127.0.0.1:3128", "[::1]:0"])
        #expect(snapshot.workers == 3)
        #expect(snapshot.log.access == .none && snapshot.log.level == .debug && snapshot.log.target == .journald)
        #expect(snapshot.tracing?.endpoint == "https://collector.example.com:4318/v1/traces")
        #expect(snapshot.tracing?.service == "usher staging" && snapshot.settings.disclosure.traceShare == 0.25)

        let servers = snapshot.settings.servers
        #expect(
            servers.first
                == AuthorizationServer(
                    url: "http://am.staging.example.com/am", host: "am.staging.example.com", realms: ["/", "/alpha"],
                    paths: [.accessToken: "/token", .pushedAuthorization: "/par"],
                    loginPages: ["https://login.example.com/sign-in"]))
        #expect(servers.last == AuthorizationServer(url: "https://[2001:db8::1]:8443", host: "2001:db8::1"))

        let actions = snapshot.settings.actions
        #expect(actions.map(\.action.rawValue) == ["TRANSFER"])
        #expect(words(actions[0].when) == #"all(test(method,exact "POST"),test(path,exact "/transfer"))"#)

        let limits = snapshot.settings.limits
        #expect(limits.connections == 10 && limits.header == 1024 && limits.headerFields == 5 && limits.url == 512)
        #expect(limits.body == 10_000_000 && limits.bufferedBody == 0)
        let timeouts = snapshot.settings.timeouts
        #expect(
            snapshot.nameServers
                == ["192.0.2.53:53", "127.0.0.1:5353", "[2001:db8::53]:53", "[2001:db8::53]:5353"])
        #expect(timeouts.resolve == 7_000)
        #expect(timeouts.connect == 1 && timeouts.tls == 2000 && timeouts.header == 3000 && timeouts.idle == 240_000)
        #expect(timeouts.response == 18_000_000 && timeouts.tunnelIdle == 86_400_000)
    }

    @Test func rulesArriveInOrder() throws {
        let rules = try snapshot(Self.whole).settings.rules
        #expect(rules.map(\.name) == ["force-auth", "member", "rewrite", "no-address"])
        #expect(
            words(rules[0].when)
                == #"all(test(action,exact "START_AUTHENTICATE",exact "AUTHENTICATE",exact "TRANSFER"),test(tree,exact "Login"))"#
        )
        #expect(words(rules[1].when) == "always")
        #expect(
            words(rules[2].when)
                == #"all(any(all(test(host,glob "*.example.com"),test(port,exact "8080")),all(test(header("X-Debug"),glob "*"),test(cookie("a"),pattern "^b"))),not(test(query("keep"),exact "1",exact "true")))"#
        )
        #expect(
            words(rules[3].when)
                == #"all(test(action,exact "USER_INFO"),test(status,exact "200",500...599,400...499),test(contentType,exact "application/json"))"#
        )
        #expect(
            rules.flatMap(\.request).map(words) == [
                "setQuery ForceAuth=true max=5 empty=", "addHeader Accept-Language=en-GB",
                "setCookie member=gold; example.com; /; secure; httpOnly", "removeCookie tracker",
                "removeHeader X-A X-B*", "removeQuery a", "setMethod PUT", "setURL http://b.example.com/x?y",
                "setHost c.example.com:8081", "setPath /z", "rewriteURL ^http://(.*) → http://proxy/$1", "abort enough",
            ])
        #expect(
            rules.flatMap(\.response).map(words) == [
                "setHeader Cache-Control=no-store", "setStatus 201", "setCookie a=b",
                #"respond 503 Retry-After=60 Content-Type=application/json {"error":"maintenance","n":[1,true,null,"1"]}"#,
            ])
    }

    @Test func authorizationArrives() throws {
        let policy = try #require(try snapshot(Self.whole).settings.authorization.first)
        #expect(policy.server.url == "http://am.staging.example.com/am")
        #expect(
            policy.resources.map(\.url) == [
                "http://shop.example.com/api/*", "http://rest.example.com/*", "http://app.example.com/*",
            ])
        #expect(policy.resources[0].present == nil && policy.resources[0].replay == nil)
        #expect(policy.resources[0].advice == [.header, .redirect] && policy.resources[0].trees == nil)
        #expect(policy.resources[2].advice == [.header, .body] && policy.resources[2].replay == .any)
        #expect(policy.resources[2].trees == [TreePattern("StepUp"), TreePattern("/alpha:S*")])
        #expect(policy.resources[1].present == .header("X-Tx") && policy.resources[1].replay == .safe)
        #expect(policy.whenClientHandlesAdvice == .act && !policy.offersHeader)
        #expect(policy.presentToGateway == .query("tx") && policy.presentToREST == .header("X-TxID"))
        #expect(policy.hold == 120_000 && policy.maxSteps == 7 && policy.maxResponseBytes == 65_536)
        #expect(policy.maxBodyBytes == 2 << 20 && policy.upgradeRounds == 0 && policy.transactionRounds == 2)
        #expect(policy.lockout == .init(refusals: 0, hold: 3_600_000))
        #expect(policy.answers.map(\.callback) == ["NameCallback", "ChoiceCallback", "PasswordCallback"])
        #expect(policy.person.isAsked)
        #expect(policy.person.notify == ["notify-send", "--urgency=low", "Usher"])
        #expect(policy.answers.map(\.response) == [.value("robot"), .choose("Yes"), .ask])
        #expect(policy.answers[1].prompt == "*confirm*")
    }

    @Test func anEntryForEachServer() throws {
        let snapshot = try snapshot(
            """
            version: 1
            am: [{ url: "http://am.example.com/am" }, { url: "http://two.example.com/am" }]
            authorization:
              - { am: "http://two.example.com/am", resources: "http://shop.example.com/*", hold: 7s }
              - { am: "http://am.example.com/am", resources: ["http://shop.example.com/*", "http://api.example.com/*"] }
            """)
        #expect(
            snapshot.settings.authorization.map(\.server.url) == [
                "http://two.example.com/am", "http://am.example.com/am",
            ])
        #expect(snapshot.settings.authorization.map(\.hold) == [7_000, 45_000])
        #expect(
            snapshot.warnings.last?.message
                == "http://shop.example.com/* is already covered by an earlier entry, which takes precedence")
    }

    @Test func theOnlyServerNeedsNoName() throws {
        let policy = try snapshot(
            """
            version: 1
            am: [{ url: "http://am.example.com/am" }]
            authorization: { resources: "http://shop.example.com/*" }
            """
        ).settings.authorization.first
        #expect(policy?.server.url == "http://am.example.com/am")
        #expect(policy?.hold == 45_000)
    }

    @Test func anHTTPSServerIsRecognisedWhereNothingCallsIt() throws {
        let snapshot = try snapshot("version: 1\nam: [{ url: https://am.example.com/am }]")
        #expect(snapshot.settings.servers.map(\.host) == ["am.example.com"])
        #expect(snapshot.settings.servers.map(\.realms) == [["/"]])
    }

    @Test func sectionsWithoutEntriesAreAsIfAbsent() throws {
        let snapshot = try snapshot("version: 1\ninterceptors:\nam:\nlimits:\nclients: {}\ntls:\n")
        #expect(snapshot.settings.rules.isEmpty)
        #expect(snapshot.clients == ClientPolicy())
    }

    @Test func aliasesAreFollowed() throws {
        let rules = try snapshot(
            """
            version: 1
            interceptors:
              - { name: a, when: &login { tree: Login }, request: &edits [{ set_method: PUT }] }
              - { name: b, when: *login, request: *edits }
            """
        ).settings.rules
        #expect(rules.map { words($0.when) } == Array(repeating: #"test(tree,exact "Login")"#, count: 2))
        #expect(rules.flatMap(\.request).map(words) == ["setMethod PUT", "setMethod PUT"])
    }

    @Test(arguments: [
        ("text: hello", "Content-Type=text/plain; charset=utf-8 hello"),
        ("body: raw", "Content-Type=application/octet-stream raw"),
        (#"{ body: "<a/>", content_type: text/xml }"#, "Content-Type=text/xml <a/>"),
        (#"{ text: x, headers: { content-type: text/x } }"#, "content-type=text/x x"),
        ("{ json: 5 }", "Content-Type=application/json 5"),
        ("{ json: null }", "Content-Type=application/json null"),
        ("{ json: 0x1F }", #"Content-Type=application/json "0x1F""#),
    ])
    func answersHaveTheirContentType(_ answer: String, _ expected: String) throws {
        let body = answer.hasPrefix("{") ? answer : "{ \(answer) }"
        let text = "version: 1\ninterceptors: [{ name: a, request: [{ respond: \(body) }] }]"
        #expect(try snapshot(text).settings.rules[0].request.map(words) == ["respond 200 \(expected)"])
    }
}
