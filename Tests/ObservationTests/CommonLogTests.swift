import Glibc
import HTTPCodec
import Interception
import Testing

@testable import Observation

@Suite("Apache's formats")
struct CommonLogTests {
    private static func written(
        _ change: (inout ExchangeRecord) -> Void = { _ in }, _ format: AccessLog.Format = .common,
        _ frame: LogFrame = .lines
    ) -> String {
        var record = ExchangeRecord()
        record.flow = 0x1F
        record.client = "127.0.0.1:4000"
        record.method = Array("GET".utf8)
        record.url = Array("http://a.test/p".utf8)
        record.status = 200
        record.responseBytes = 34
        change(&record)
        var bytes: [UInt8] = []
        let log = AccessLog(detail: LogDetail(.events), format: format, frame: frame, emit: { bytes += $0 })
        log.record(record)
        log.flush()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func common() {
        let line = Self.written()
        let pattern =
            /^127\.0\.0\.1 - - \[\d\d\/[A-Z][a-z]{2}\/20\d\d:\d\d:\d\d:\d\d [+-]\d{4}\] "GET http:\/\/a\.test\/p HTTP\/1\.1" 200 34\n$/
        #expect(line.contains(pattern), "\(line)")
    }

    @Test("What is missing is a dash")
    func missing() {
        let line = Self.written {
            $0.status = 0
            $0.responseBytes = 0
            $0.user = "anna"
            $0.version = .http10
        }
        #expect(line.hasPrefix("127.0.0.1 - anna ["))
        #expect(line.hasSuffix("\"GET http://a.test/p HTTP/1.0\" - -\n"))
        let combined = Self.written({ _ in }, .combined)
        #expect(combined.hasSuffix(" 200 34 \"-\" \"-\"\n"))
    }

    @Test func combined() {
        let line = Self.written(
            { $0.provenance = Provenance(referer: Array("http://b.test/".utf8), userAgent: Array("a \"b\"".utf8)) },
            .combined)
        #expect(line.hasSuffix(" 200 34 \"http://b.test/\" \"a \\\"b\\\"\"\n"))
    }

    @Test(
        "Clients' addresses stand without their ports",
        arguments: [
            ("192.0.2.7:80", "192.0.2.7"), ("[2001:db8::1]:4000", "2001:db8::1"), ("usher", "usher"), ("", "-"),
            ("2001:db8::1", "2001:db8::1"),
        ])
    func host(_ client: String, _ host: String) {
        #expect(Self.written { $0.client = client }.hasPrefix("\(host) - "))
    }

    @Test("Nothing that a client sends ends a field or a line")
    func forging() {
        let line = Self.written {
            $0.url = Array("/\"\\\n\r\t\u{1}ä".utf8)
            $0.user = "a\nb"
        }
        #expect(line.contains(#""GET /\"\\\n\r\t\x01\xc3\xa4 HTTP/1.1""#))
        #expect(line.hasPrefix(#"127.0.0.1 - a\nb ["#))
        #expect(line.filter { $0 == "\n" }.count == 1)
    }

    @Test("The time is the request's, and not its end's")
    func time() {
        let now = timespec(tv_sec: 100, tv_nsec: 5_000_000)
        #expect(AccessLog.time(0, before: now).tv_sec == 100)
        let before = AccessLog.time(1_006, before: now)
        #expect(before.tv_sec == 98 && before.tv_nsec == 999_000_000)
    }

    @Test("An entry of the journal has its fields, and ends with an empty line")
    func entries() {
        let entry = Self.written({ $0.action = .logout }, .common, .entries)
        #expect(entry.hasPrefix("USHER_FLOW=1f\nUSHER_STATUS=200\nUSHER_ACTION=LOGOUT\nPRIORITY=6\n"))
        #expect(entry.contains("SYSLOG_IDENTIFIER=usher\nMESSAGE=127.0.0.1 - - ["))
        #expect(entry.hasSuffix(" 200 34\n\n"))
        #expect(LogFrame.entries.records(in: Array((entry + entry).utf8)[...]) == 2)
        #expect(LogFrame.lines.records(in: Array("a\nb\nc".utf8)[...]) == 2)
    }

    @Test("A file in Apache's form holds exchanges alone; words go to a person")
    func words() {
        var bytes: [UInt8] = []
        var words: [String] = []
        let log = AccessLog(
            detail: LogDetail(.events), format: .common, emit: { bytes += $0 }, say: { words.append($0) })
        log.warn("something")
        log.flush()
        #expect(bytes.isEmpty && words == ["something"])
    }

    @Test("How much is told may change while it writes")
    func detail() {
        var bytes: [UInt8] = []
        let detail = LogDetail(.none)
        let log = AccessLog(detail: detail, emit: { bytes += $0 })
        var record = ExchangeRecord()
        record.events = [.init(.conversation("x"), at: 0)]
        for (next, lines) in [(AccessLog.Detail.none, 0), (.exchanges, 1), (.events, 3), (.none, 3)] {
            detail.current = next
            log.record(record)
            log.flush()
            #expect(bytes.count { $0 == 0x0A } == lines)
        }
    }
}
