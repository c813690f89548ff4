import Interception
import Operation
import Testing

@Suite struct RunTallyTests {
    private static func record(
        _ events: LogEvent..., method: String = "GET", error: String? = nil
    ) -> ExchangeRecord {
        var record = ExchangeRecord()
        record.method = Array(method.utf8)
        for event in events { record.take(event, at: 0) }
        record.proxyError = error
        return record
    }

    private static func words(_ records: ExchangeRecord...) -> String {
        var tally = RunTally()
        for record in records { tally.take(record) }
        return tally.words
    }

    private static let call = LogEvent.call(.authenticate, number: 1, url: "http://am.test/")
    private static let replay = LogEvent.replayed(method: "GET", url: "http://a.test/")

    @Test func requestsAreCounted() {
        #expect(Self.words() == "0 requests")
        #expect(Self.words(Self.record()) == "1 request")
        #expect(Self.words(Self.record(), Self.record(error: "dns_error")) == "2 requests, 1 fault")
    }

    @Test func aTunnelCountsWhereNobodySeesWhatIsInIt() {
        let opened = Self.record(.opened(name: "a.test", negotiated: "TLS"), method: "CONNECT")
        #expect(Self.words(Self.record(method: "CONNECT"), opened, Self.record()) == "1 request, 1 unopened tunnel")
        var tally = RunTally()
        #expect(tally.isEmpty)
        tally.take(Self.record(method: "CONNECT"))
        #expect(!tally.isEmpty)
    }

    @Test(
        "A step-up succeeded where the request was sent again, and nothing came after that",
        arguments: [
            ([call, replay], "1 step-up"), ([call], "1 step-up (1 failed)"),
            ([call, .stepUpFailed("x")], "1 step-up (1 failed)"),
            ([call, .notReplayed("x")], "1 step-up (1 failed)"),
            ([.heldOff(refusals: 3, seconds: 9)], "1 step-up (1 failed)"),
            ([call, .abandoned], "1 step-up (1 failed)"),
            ([call, replay, .notApproved("x")], "1 step-up (1 failed)"),
            ([call, .stepUpFailed("x"), call, replay], "1 step-up"),
        ])
    func stepUps(_ events: [LogEvent], _ words: String) {
        var record = Self.record()
        for event in events { record.take(event, at: 0) }
        #expect(Self.words(record) == "1 request, \(words)")
    }
}
