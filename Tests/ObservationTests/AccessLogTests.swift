import Formats
import HTTPCodec
import Interception
import Observation
import Testing

struct AccessLogTests {
    private static func written(_ record: ExchangeRecord, _ detail: AccessLog.Detail) -> [UInt8] {
        var bytes: [UInt8] = []
        let log = AccessLog(detail: detail) { bytes += $0 }
        log.record(record)
        log.flush()
        return bytes
    }

    /// The lines that a record becomes, read back.
    private static func lines(
        _ record: ExchangeRecord, _ detail: AccessLog.Detail = .events
    ) throws -> [[String: JSONValue]] {
        try read(written(record, detail))
    }

    private static func read(_ bytes: [UInt8]) throws -> [[String: JSONValue]] {
        #expect(bytes.last == 0x0A)
        return try bytes.split(separator: 0x0A).map { line in
            #expect(String(validating: line, as: UTF8.self) != nil)
            guard case .object(let members) = try JSONValue(parsing: Array(line)) else {
                Issue.record("a line is no object")
                return [:]
            }
            return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        }
    }

    private static var record: ExchangeRecord {
        var record = ExchangeRecord()
        record.flow = 0x1F
        record.client = "127.0.0.1:4000"
        record.method = Array("GET".utf8)
        record.url = Array("http://a.test/p".utf8)
        record.status = 200
        record.requestBytes = 12
        record.responseBytes = 34
        record.milliseconds = 5
        record.attempts = 1
        return record
    }

    @Test func nothingSteersATerminal() throws {
        var record = Self.record
        record.user = "an\u{202E}na"
        record.events = [.init(.logged(interceptor: "a", "b\u{9B}31m\u{E0041}"), at: 1)]
        let lines = Self.written(record, .events)
        #expect(String(decoding: lines, as: UTF8.self).unicodeScalars.allSatisfy { !$0.steers || $0 == "\n" })
        #expect(
            try Self.read(lines).map { $0["text"]?.text ?? $0["user"]?.text } == [
                "a: b\u{9B}31m\u{E0041}", "an\u{202E}na",
            ])
    }

    @Test func everyMember() throws {
        var record = Self.record
        record.user = "anna"
        record.action = .startAuthenticate
        record.realm = "/alpha"
        record.tree = "Login"
        record.proxyError = "dns_error"
        record.version = .http2
        record.originVersion = .http10
        let line = try #require(try Self.lines(record).first)
        let texts = [
            "client": "127.0.0.1:4000", "user": "anna", "method": "GET", "url": "http://a.test/p",
            "protocol": "HTTP/2", "origin_protocol": "HTTP/1.0", "action": "START_AUTHENTICATE", "realm": "/alpha",
            "tree": "Login",
            "proxy_error": "dns_error",
        ]
        for (name, text) in texts { #expect(line[name] == .string(text), "\(name)") }
        let numbers = ["status": 200, "request_bytes": 12, "response_bytes": 34, "ms": 5, "attempts": 1]
        for (name, number) in numbers { #expect(line[name] == .integer(number), "\(name)") }
        #expect(Set(line.keys) == Set(texts.keys).union(numbers.keys).union(["time", "started", "flow"]))
        let plain = try #require(try Self.lines(Self.record).first)
        #expect(
            Set(texts.keys).subtracting(plain.keys) == [
                "user", "origin_protocol", "action", "realm", "tree", "proxy_error",
            ])
    }

    @Test("Nothing that a client sends ends a member or a line")
    func forging() throws {
        let hostile = "\",\"status\":999,\"x\":\"\\\n{\"time\":\"\u{1}\t\r\u{7F}"
        var record = Self.record
        record.method = Array(hostile.utf8)
        record.url = Array(hostile.utf8)
        record.user = hostile
        record.realm = hostile
        record.tree = hostile
        record.events = [.init(.conversation(hostile), at: 1)]
        let lines = try Self.lines(record)
        #expect(lines.count == 2)
        #expect(lines[0]["text"] == .string(hostile))
        for name in ["method", "url", "user", "realm", "tree"] {
            #expect(lines[1][name] == .string(hostile), "\(name)")
        }
        #expect(lines[1]["status"] == .integer(200) && lines[1]["x"] == nil)
    }

    @Test func events() throws {
        var record = Self.record
        record.events = [
            .init(.recognised(.logout, realm: nil, tree: nil, evidence: "one"), at: 3),
            .init(.failed(token: "x", details: "two"), at: -1),
        ]
        let lines = try Self.lines(record)
        #expect(lines.map { $0["event"] } == [.string("action"), .string("note"), nil])
        #expect(lines.map { $0["text"] } == [.string("LOGOUT: one"), .string("two"), nil])
        #expect(lines.map { $0["at_ms"] } == [.integer(3), .integer(0), nil])
        #expect(lines.allSatisfy { $0["flow"] == .string("1f") })
    }

    @Test func details() throws {
        var record = Self.record
        record.events = [.init(.conversation("two"), at: 1)]
        #expect(try Self.lines(record, .events).count == 2)
        let exchanges = try Self.lines(record, .exchanges)
        #expect(exchanges.count == 1 && exchanges[0]["event"] == nil)
        #expect(Self.written(record, .none).isEmpty)
    }

    @Test("What concerns no exchange is told whatever the detail")
    func warning() throws {
        var bytes: [UInt8] = []
        let log = AccessLog(detail: .none) { bytes += $0 }
        log.warn("a \"word\"\n")
        #expect(bytes.isEmpty)
        log.flush()
        let lines = try Self.read(bytes)
        #expect(lines.count == 1 && lines[0]["error"] == .string("a \"word\"\n"))
    }

    @Test("Times are UTC, to the millisecond, and never run backwards")
    func times() throws {
        var times: [String] = []
        for _ in 0..<3 {
            guard case .string(let time)? = try Self.lines(Self.record).first?["time"] else {
                Issue.record("no time")
                return
            }
            #expect(time.wholeMatch(of: /20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{3}Z/) != nil)
            times.append(time)
        }
        #expect(times == times.sorted())
    }

    @Test("Lines leave in batches, whole")
    func batches() throws {
        var batches: [[UInt8]] = []
        let log = AccessLog(detail: .exchanges) { batches.append($0) }
        for _ in 0..<1_000 { log.record(Self.record) }
        log.flush()
        log.flush()
        #expect(batches.count > 1)
        #expect(try batches.map { try Self.read($0).count }.reduce(0, +) == 1_000)
    }
}
