import Interception
import Operation
import Testing

@Suite("What the exchanges of a command tell")
struct CommandDiagnosisTests {
    private func record(
        _ method: String, _ url: String, status: Int = 200, error: String? = nil, action: Action? = nil,
        _ event: LogEvent? = nil
    ) -> ExchangeRecord {
        var record = ExchangeRecord()
        record.method = Array(method.utf8)
        record.url = Array(url.utf8)
        record.status = status
        record.proxyError = error
        record.action = action
        if let event { record.take(event, at: 0) }
        return record
    }

    private func judge(_ records: [ExchangeRecord], _ program: String = "app", servers: Bool = true) -> [Finding] {
        CommandDiagnosis(records, command: ["/usr/bin/\(program)", "x"], namesServers: servers).findings
    }

    @Test(arguments: [
        ("node", "22.21"), ("java", "JAVA_TOOL_OPTIONS"), ("python3.11", "aiohttp"), ("go", "localhost"),
        ("dotnet", "UseProxy"), ("something", "HTTP_PROXY"),
    ])
    func nothingCame(_ program: String, _ hint: String) throws {
        let findings = judge([], program)
        let finding = try #require(findings.first)
        #expect(findings.count == 1 && finding.verdict == .problem && finding.what.contains(program))
        #expect(finding.remedy?.contains(hint) == true)
    }

    @Test func whatCameIsCounted() {
        let findings = judge([
            record("POST", "https://am.test/am/json/authenticate", action: .startAuthenticate),
            record("POST", "https://am.test/am/json/authenticate", action: .authenticate),
            record("POST", "https://am.test/am/json/authenticate", action: .authenticate),
        ])
        #expect(findings.map(\.verdict) == [.ok, .ok])
        #expect(findings[0].what.contains("3 exchanges"))
        #expect(findings[1].what == "Actions seen: START_AUTHENTICATE 1, AUTHENTICATE 2")
    }

    @Test func stepUpsAreCountedAndFailuresGiveTheirReason() {
        var granted = record("GET", "https://api.test/pay")
        granted.take(.advice(status: 401, host: "api.test", summary: "TransactionConditionAdvice"), at: 0)
        granted.take(.replayed(method: "GET", url: "https://api.test/pay"), at: 1)
        var failed = record("GET", "https://api.test/pay", status: 401)
        failed.take(.advice(status: 401, host: "api.test", summary: "TransactionConditionAdvice"), at: 0)
        failed.take(.stepUpFailed("AM locked the account"), at: 1)
        var second = granted
        second.take(.notApproved("the resource asks again"), at: 2)
        second.take(.replayed(method: "GET", url: "https://api.test/pay"), at: 3)
        let findings = judge([granted, second, failed])
        #expect(findings.contains { $0.verdict == .ok && $0.what == "step-ups at api.test: 2" })
        #expect(findings.count { $0.what.hasPrefix("no step-up") } == 1)
        #expect(findings.contains { $0.verdict == .note && $0.what.contains("api.test: the step-up failed") })
    }

    @Test func aRefusedCertificateNamesTheHostOnce() throws {
        let findings = judge([
            record("CONNECT", "am.test:443", .certificateRefused(token: "tls_alert_received", details: "refused")),
            record("CONNECT", "am.test:443", .certificateRefused(token: "connection_terminated", details: "left")),
            record("GET", "http://b.test/"),
        ])
        let problems = findings.filter { $0.verdict == .problem }
        let problem = try #require(problems.first)
        #expect(problems.count == 1 && problem.what.contains("am.test:443, 2 times"))
        #expect(problem.remedy?.contains("SSL_CERT_FILE") == true)
    }

    @Test func whatWasNotNeededIsNoTunnel() {
        let findings = judge([
            record("CONNECT", "a.test:443", .opened(name: "a.test", negotiated: "TLSv1.3")),
            record("CONNECT", "a.test:443", .leftHandshake("a.test")), record("GET", "https://a.test/"),
        ])
        #expect(findings.filter { $0.verdict == .ok }.count == 2)
        #expect(!findings.contains { $0.what.contains("unopened") || $0.verdict == .problem })
    }

    @Test func tunnelsAreNoted() {
        let findings = judge([record("CONNECT", "a.test:443"), record("CONNECT", "a.test:443")])
        #expect(findings.map(\.verdict) == [.ok, .note])
        #expect(findings[1].what == "2 tunnels to a.test:443: unopened")
    }

    @Test func whatWasOpenedIsNoExchange() {
        let findings = judge(
            [
                record(
                    "CONNECT", "a.test:443",
                    .opened(name: "a.test", negotiated: "TLSv1.3, TLS_AES_256_GCM_SHA384, http/1.1")),
                record("GET", "https://a.test/"),
                record("CONNECT", "b.test:443", .leftUnopened(.protocols("h2"))),
            ], servers: false)
        #expect(findings.map(\.verdict) == [.ok, .ok, .note])
        #expect(findings[0].what.contains("2 exchanges") && findings[1].what.contains("TLSv1.3"))
        #expect(findings[2].what.contains("only h2 (ALPN)") && findings[2].remedy == nil)
    }

    @Test func otherFaultsAreToldInTheirOwnWords() {
        let findings = judge([
            record(
                "GET", "http://a.test/", status: 502,
                .failed(token: "dns_error", details: "the name a.test could not be resolved"))
        ])
        #expect(findings.contains(Finding(.problem, "a.test: the name a.test could not be resolved")))
        #expect(!findings.contains { $0.verdict == .ok })
    }

    @Test func anAdviceThatDoesNotCountIsToldOncePerResource() {
        let event = LogEvent.uncountedAdvice(resource: "https://a.test/*")
        let other = LogEvent.uncountedAdvice(resource: "https://b.test/*")
        let notes = judge(
            [event, other, event].map { record("GET", "https://a.test/", status: 403, $0) }, servers: false
        ).filter { $0.verdict == .note }
        #expect(notes.map { $0.what.contains("of https://a.test/* has an advice") } == [true, false])
        #expect(notes.allSatisfy { $0.remedy?.contains("body]") == true })
    }

    @Test func noActionIsANoteWhereAnAMIsNamed() {
        let records = [record("GET", "http://a.test/")]
        #expect(judge(records).contains { $0.verdict == .note && $0.what.contains("Action") })
        #expect(!judge(records, servers: false).contains { $0.what.contains("Action") })
    }
}
