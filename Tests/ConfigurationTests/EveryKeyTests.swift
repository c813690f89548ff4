import Foundation
import Testing

@testable import Configuration
@testable import Declaration

/// No key is accepted and then read by nobody: each is taken out of a whole document in turn, and what comes of the rest
/// differs.
@Suite struct EveryKeyTests {
    private static let edits = """
          - name: requests
            when:
              { action: TRANSFER, tree: Login, type: service, realm: /alpha, platform: ios, scheme: https,
                host: am.example.com, port: 443, path: /x, method: GET, header: { A: b }, query: { c: d },
                cookie: { e: f }, by: usher, json: { /a: 1 }, form: { a: b }, any: [{ path: /a }], not: { path: /b } }
            percent: 50
            seed: 7
            first: 3
            every: 2
            request:
              - { set_header: { A: b }, add_header: { A: b }, remove_header: a }
              - { set_query: { A: b }, add_query: { A: b }, remove_query: a }
              - { set_cookie: { name: a, value: b, domain: example.com, path: /a, secure: true, http_only: true,
                              max_age: 1h, expires: "Wed, 21 Oct 2026 07:28:00 GMT", same_site: lax } }
              - { remove_cookie: a, set_method: PUT, set_url: "https://a.example.com/", set_host: b, set_path: /c }
              - { rewrite_url: { "~a": b } }
              - { set_form: { a: b }, add_form: { a: b }, remove_form: a, set_json: { /a: 1 }, remove_json: /a }
              - { replace_body: { a: b }, set_body: { text: a, content_type: text/x } }
              - { set_state: { a: b }, swift: { name: code, deadline: 3s }, convert_body: json }
              - { timeout: 5s, log: "a ${uuid}", stop: true }
              - { respond: { status: 201, headers: { A: b }, json: { a: 1 } } }
          - { name: errors, when: { error: tls }, error: [{ retry: { after: 1s } }, { respond: { status: 503 } }] }
          - { name: dead, error: [{ set_state: { a: b } }, { log: a, stop: true }, { abort: why }] }
          - { name: early, before: step_up, response: [{ set_status: 401 }, { log: a, stop: true, convert_body: form }] }
          - name: times
            request:
              - { throttle: 1KiB, delay: { from: 1ms, to: 2ms } }
              - delay: { mean: 5ms, deviation: 1ms }
              - delay: { median: 5ms, p95: 9ms }
              - delay: { percentiles: { 50: 5ms, 99.9: 1s } }
              - fault: { delay: 5ms }
              - fault: { bandwidth: 1KiB }
              - limit: { rate: 5/s, burst: 2, concurrency: 3, per: host, wait: 1s, queue: 7, status: 503 }
              - limit: { rate: 5/s, wait: 1s }
              - limit: { concurrency: 3 }
            response:
              - { throttle: 1KiB, delay: 5ms, fault: { slow_close: { from: 1ms, to: 2ms } } }
              - fault: { truncate: 5B }
              - fault: { reset_after: 5B }
              - fault: { wrong_status: 503 }
              - retry:
                  { times: 3, after: 1s, backoff: 2, jitter: 10, retry_after: false, cap: 1m, methods: idempotent }
          - { name: agent, user_agent: Shop/2 }
          - { name: expired, fault: am-session-expired }
          - { name: odd, vary: 7 }
          - name: asked
            script:
              { run: [node, a.mjs], phases: [request, response], needs: body, timeout: 1s, on_failure: pass, workers: 2,
                restart: 1s, open: 9, frame: 1MiB, file_above: 8KiB, memory: 1GiB, user: nobody, environment: { A: b } }
          - { name: found, script: { connect: "unix:/run/x.sock", phases: response } }
          - { name: recorded, recording: { folder: shop, mode: spy } }
          - { name: server, when: { response_header: { A: b } }, response: [{ set_status: 401 }] }
          - { name: basic, when: { host: b }, basic_auth: { user: a, password: b, send: challenged, origins: "https://o.example.com" } }
          - name: turned-away
            replay:
              { status: 503, times: 2, after: 1s, backoff: 3, jitter: 10, retry_after: false, cap: 1m, methods: any }
          - name: couch
            when: { host: b }
            session_cookie:
              { user: a, password: b, fields: { name: n, password: p }, login: /in, cookie: C, renew_before: 1s,
                refused: refuse, cool_down: 1s, hold: 1s, origins: "https://*.example.com" }
          - name: iam
            when: { host: b }
            iam_cookie:
              { key: a, identity: "https://i.example.com/", login: /in, cookie: C, renew_before: 1s, refused: refuse,
                cool_down: 1s, hold: 1s, origins: "https://o.example.com:8443" }
          - { name: turns, request: [{ respond: [{ status: 503, times: 2 }, { status: 201 }] }] }
          - { name: text, request: [{ respond: { text: hello, content_type: text/x } }] }
          - { name: body, request: [{ respond: { body: hello } }] }
          - { name: file, request: [{ respond: { file: users } }] }
          - { name: stop, request: [{ abort: { reason: why } }] }
          - { name: bytes, request: [{ set_body: { file: users } }, { set_body: { json: [1] } }] }
          - name: responses
            over_limit: refuse
            invalid_body: refuse
            when: { status: 401, content_type: text/html, response_json: { /a: 1 } }
            response:
              - { set_header: { A: b }, add_header: { A: b }, remove_header: a, set_cookie: { name: a, value: b } }
              - { remove_cookie: a, set_json: { /a: 1 }, remove_json: /a, replace_body: { a: b } }
              - { set_body: { text: a }, set_state: { a: b }, swift: code }
              - { set_status: 204, respond: { status: 201 }, abort: why }
        """

    static let document = """
        version: 1
        listen: ["127.0.0.1:1", "https://127.0.0.1:2"]
        workers: 3
        clients: { allow: 10.0.0.0/8, basic: { users: "${file:users}" }, proxy_protocol: 10.0.0.1 }
        names: { servers: 192.0.2.53 }
        http2: { clients: false, origins: false, cleartext: "a.example.com:80", streams: 7 }
        destinations:
          { allow: "*.example.com", deny: 10.0.0.0/8, connect_ports: 443,
            via: [{ host: a.example.com, proxy: "http://b.example.com" }] }
        guard: { only: "*.example.com", never: b.test, unknown: pass }
        environments: [{ hosts: staging.test, label: staging, allow: observe, rate: 5/s }]
        forwarded: forwarded
        tls:
          intercept: "*.example.com"
          except: b.example.com
          on_refusal: tunnel
          key_log: true
          ca: { certificate: own.pem, key: own.key, constrain_to: example.com }
          listener: { certificate: app.pem, key: locked.key, password: "${env.PASSWORD}" }
          upstream:
            { trust: none, extra_trust: app.pem, crl: app.crl, verify: true, minimum: "1.3",
              hosts: [{ host: c.example.com, verify: false, minimum: "1.2",
                        pins: "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" }] }
          client_certificates:
            [{ host: d.example.com, certificate: app.pem, key: locked.key, password: "${env.PASSWORD}" }]
        am:
          - url: https://am.example.com/am
            realms: [/beta, /alpha]
            cookie: session
            paths: { authenticate: /1, authorize: /2, access_token: /3, revoke: /4, userinfo: /5, sessions: /6,
                     end_session: /7, par: /8, push: /9 }
            login_pages: https://login.example.com/
          - url: https://other.example.com/am
        compatibility: cdt
        response_order: reversed
        actions: [{ name: TRANSFER, when: { path: /transfer } }]
        interceptors:
        \(edits)
        authorization:
          - resources:
              - { url: "https://a.example.com/*", advice: body, trees: Login, present: "query:a", replay: safe,
                  enforce: am, translate: json }
              - https://c.example.com/*
            am: https://am.example.com/am
            when_client_handles_advice: act
            origins: ["https://o.example.com", "capacitor://localhost"]
            offer_header: false
            present: { gateway: "query:b", rest: "header:X-B", id_token: true }
            session: login
            login:
              { tree: Login, user: u, realm: /alpha, max_idle: 1m, max_time: 1h, cool_down: 1s, logout: true,
                answers: [{ callback: NameCallback, value: c }] }
            learned: { by: "header:X-Client", keep: 1h }
            hold: 2m
            limits: { steps: 7, polls: 3, answer: 64KiB }
            body_limit: 2MiB
            rounds: { upgrade: 0, transaction: 2 }
            lockout: { refusals: 7, hold: 1h }
            translate: redirect
            enforce:
              { application: shop, realm: /alpha, as: { user: a, password: b, tree: c }, environment: { a: b },
                address: true, query: false, cache: 1s, concurrency: 3 }
            answers:
              - { callback: NameCallback, prompt: "*a*", value: b }
              - { callback: ChoiceCallback, choose: b }
              - user: alice
                answers:
                  - { callback: PasswordCallback, name: n, stage: s, tree: T, page: 2, nth: 2,
                      totp: { secret: JBSWY3DPEHPK3PXP, algorithm: SHA256, digits: 8, period: 60s } }
                  - { callback: PasswordCallback,
                      hotp: { secret: JBSWY3DPEHPK3PXP, algorithm: SHA512, digits: 7, counter: 9 } }
              - { callback: TextInputCallback, default: true }
              - { callback: DeviceProfileCallback,
                  device: { identifier: d, metadata: { a: 1 }, location: { latitude: 1, longitude: 2 } } }
              - { callback: KbaCreateCallback, question: q, answer: a }
              - { callback: IdPCallback, inputs: { token: t } }
              - { callback: RedirectCallback, redirect: { code: c } }
              - { callback: PollingWaitCallback, exit: e, after: 5s }
              - { callback: PasswordCallback, ask: true }
              - otherwise: ask
            notify: [notify-send, Usher]
          - resources: [{ url: "https://d.example.com/*", enforce: am }]
            am: https://am.example.com/am
            enforce: { application: shop, as: { session: a } }
        tokens:
          - { resources: "https://t.example.com/*", bearer: client_credentials, am: https://am.example.com/am,
              realm: /alpha, client: { id: a, secret: b, auth: post }, scope: a, refresh_before: 1s, refresh_on: 403,
              dpop: true, cool_down: 1s, hold: 1s, revoke: at_end,
              origins: "https://o.example.com" }
          - { resources: "https://u.example.com/*", bearer: code, am: https://am.example.com/am, client: { id: a },
              redirect_uri: "app:/x", consent: allow, client_by: "header:X-C", keep: sealed }
        state: { key: "${env.STATE_KEY}" }
        robots: [{ user: robot, password: p, answers: [{ callback: ChoiceCallback, choose: Yes }] }]
        devices:
          - { user: bob, name: phone, am: "https://other.example.com/am", oath: false, push: deny, delay: 2s, number: wrong }
          - { user: [alice, carol], am: "https://am.example.com/am", prompt: ["*code*"], seen: true }
        limits:
          { connections: 10, per_client: 2, header: 1KiB, header_fields: 5, url: 512B, body: 1B, buffered_body: 0B,
            buffered: 1MiB, retries: 3, idle_per_origin: 1, leaf_certificates: 1 }
        timeouts:
          { resolve: 1ms, connect: 1ms, tls: 1ms, header: 1ms, idle: 1ms, response: 1ms, tunnel_idle: 1ms,
            pool_idle: 1ms, half_closed: 1ms, drain: 1ms, attempts: 1ms }
        log: { access: none, show: a, level: debug, to: /var/log/own.log }
        tracing: { endpoint: "http://127.0.0.1:4318", sample: 0.5, service_name: own }
        journal: { memory: 1MiB, bodies: 1KiB, secrets: X-House, reveal: true, disk: { size: 2MiB, age: 1h } }
        expect:
          - { use: [am-client, sdk-habits], except: authid-once }
          - { name: out, when: { action: LOGOUT }, count: 2, each: { scheme: https }, after: in, within: 5s, per: journey,
              step_up: true }
          - { name: in, when: { action: AUTHENTICATE }, before: out }
        admin: { socket: own.sock, group: own, listen: "127.0.0.1:3", token: "${env.TOKEN}" }
        """

    /// Keys that may only say what holds anyway: `version: 1`, and `verify: true` for all hosts.
    private static let formal = ["root.version", "upstream_tls.verify"]

    @Test func everyKeyChangesSomething() throws {
        let load = try Load(Self.document)
        let whole = load.result(load.root)
        let isSteady = load.result(load.root) == whole
        #expect(isSteady, "the same document comes out the same")
        var met: Set<String> = []
        load.visit(load.root, KeyTable.root) { name, without in
            met.insert(name)
            guard !Self.formal.contains(name) else { return }
            let isRead = load.result(without) != whole
            #expect(isRead, "\(name) is read by nobody")
        }
        for object in ObjectShape.all {
            for key in object.keys { #expect(met.contains("\(object.name).\(key.name)"), "\(object.name).\(key.name)") }
        }
    }
}

/// A document whose keys can be taken out after they were checked.
private struct Load {
    let root: Fields
    private let files: [String: FileContent]
    private let environment = [
        "PASSWORD": "opensesame", "STATE_KEY": "thirty-two bytes or more make a key", "TOKEN": "sixteen-bytes-or-more",
    ]

    init(_ text: String) throws {
        var files = try TLSContainerTests.files.get()
        files["users"] = FileContent(bytes: Array("alice:\(ClientTests.hash)".utf8))
        files["shop/recording.yaml"] = FileContent(bytes: Array(RecordingReaderTests.index.utf8))
        files["shop/001-login.yaml"] = FileContent(bytes: Array(RecordingReaderTests.login.utf8))
        self.files = files
        let findings = Findings(file: "usher.yaml")
        let node = try #require(YAMLReader.read(text, findings))
        let walker = Walker(findings: findings, secrets: Self.secrets(environment, files, findings))
        root = try #require(walker.object(node, KeyTable.root, path: ""))
        #expect(findings.diagnostics.map(\.description) == [])
    }

    private static func secrets(
        _ environment: [String: String], _ files: [String: FileContent], _ findings: Findings
    ) -> Secrets {
        Secrets(
            environment: environment, folders: [],
            readFile: { path throws(FileFault) in
                guard let content = files[path] else { throw .missing }
                return content
            }, findings: findings, variables: ReadVariables())
    }

    /// What comes of these keys: what is said of them, and a digest of the snapshot.
    func result(_ root: Fields) -> Outcome {
        let findings = Findings(file: "usher.yaml")
        let material = MaterialReader(
            findings: findings, secrets: Self.secrets(environment, files, findings),
            now: Int(Date().timeIntervalSince1970))
        let snapshot = SnapshotBuilder(
            findings: findings, material: material, interceptors: ["code": Registered()]
        ).snapshot(
            root, file: "usher.yaml", generation: 1)
        var digest = Digest()
        return Outcome(said: findings.diagnostics.map(\.description), digest: digest.of(snapshot as Any))
    }

    /// Tells of every key in the document, with the document without it.
    func visit(_ root: Fields, _ object: ObjectShape, _ tell: (_ name: String, _ without: Fields) -> Void) {
        visit(root, object, rebuild: { $0 }, tell)
    }

    private func visit(
        _ fields: Fields, _ object: ObjectShape, rebuild: (Fields) -> Fields, _ tell: (String, Fields) -> Void
    ) {
        for (index, field) in fields.all.enumerated() {
            guard let key = object.keys.first(where: { $0.name == field.name }) else { continue }
            var without = fields
            without.all.remove(at: index)
            without.written.removeAll { $0 == field.name }
            tell("\(object.name).\(field.name)", rebuild(without))
            visit(
                field.value, key.shape,
                rebuild: { value in
                    var with = fields
                    with.all[index].value = value
                    return rebuild(with)
                }, tell)
        }
    }

    private func visit(
        _ value: Decoded, _ shape: Shape, rebuild: (Decoded) -> Fields, _ tell: (String, Fields) -> Void
    ) {
        switch (shape, value.content) {
        case (.object(let object), .fields(let fields)), (.either(_, let object), .fields(let fields)):
            visit(
                fields, object,
                rebuild: {
                    var with = value
                    with.content = .fields($0)
                    return rebuild(with)
                }, tell)
        case (.list(let element), .list(let items)), (.oneOrMany(let element), .list(let items)):
            for (index, item) in items.enumerated() {
                guard let item else { continue }
                visit(
                    item, element,
                    rebuild: {
                        var changed = items
                        changed[index] = $0
                        var with = value
                        with.content = .list(changed)
                        return rebuild(with)
                    }, tell)
            }
        default: break
        }
    }
}

private struct Outcome: Equatable {
    let said: [String]
    let digest: Int
}

/// One number for all that a value holds. Addresses do not count, nor the order in dictionaries and sets.
/// `dump` tells the same, a line for each byte, and takes ten times as long.
private struct Digest {
    private var objects: [ObjectIdentifier: Int] = [:]

    mutating func of(_ value: Any) -> Int {
        var hasher = Hasher()
        hasher.combine(ObjectIdentifier(type(of: value)))
        if type(of: value) == [UInt8].self, let bytes = value as? [UInt8] {
            hasher.combine(bytes)
            return hasher.finalize()
        }
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle != .class else { return of(object: value as AnyObject, mirror, hasher) }
        combine(mirror, into: &hasher)
        if mirror.children.isEmpty {
            let text = String(describing: value)
            if !text.hasPrefix("0x") { hasher.combine(text) }
        }
        return hasher.finalize()
    }

    private mutating func of(object: AnyObject, _ mirror: Mirror, _ hasher: Hasher) -> Int {
        let identity = ObjectIdentifier(object)
        if let known = objects[identity] { return known }
        // what leads back to itself ends here
        objects[identity] = 0
        var hasher = hasher
        var level: Mirror? = mirror
        while let one = level {
            combine(one, into: &hasher)
            level = one.superclassMirror
        }
        let digest = hasher.finalize()
        objects[identity] = digest
        return digest
    }

    private mutating func combine(_ mirror: Mirror, into hasher: inout Hasher) {
        switch mirror.displayStyle {
        case .dictionary, .set:
            var sum = 0
            for child in mirror.children { sum &+= of(child.value) }
            hasher.combine(sum)
        default:
            for child in mirror.children {
                hasher.combine(child.label)
                hasher.combine(of(child.value))
            }
        }
    }
}
