import Interception
import Journal
import ProxyCore
import Testing

/// What the journal is told of exchanges.
@Suite("The flow that the journal receives")
struct FlowCaptureTests {
    private typealias Up = SteppingUp

    private static func keeping(
        _ settings: Settings = Settings(), body: Int = 100, total: Int = 1000
    ) -> Settings {
        var settings = settings
        settings.disclosure.capture = CaptureLimits(body: body, total: total)
        return settings
    }

    @Test func nothingWhereNoneIsKept() {
        let talk = Conversation()
        talk.exchange(get, ok)
        #expect(talk.driver.records.count == 1 && talk.driver.flows.isEmpty)
    }

    @Test(arguments: Delivery.all)
    func aPlainExchange(_ delivery: Delivery) throws {
        let talk = Conversation(Self.keeping(), delivery: delivery)
        talk.exchange(
            "POST http://A.test:8080/p?x=1 HTTP/1.1\r\nHost: A.test:8080\r\nX-One:  1\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 201 Made\r\nX-Two: 2\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\n\r\n")
        let flow = try #require(talk.driver.flows.first?.flow)
        #expect(talk.driver.flows.count == 1)
        #expect(flow.id == talk.record.flow && flow[.status] == 201 && flow[.port] == 8080 && flow[.scheme] == 1)
        #expect(flow.text(.method) == "POST" && flow.url == "http://a.test:8080/p?x=1")
        #expect(flow.text(.request)?.contains("X-One: 1\r\n") == true && flow.text(.requestBody) == "abc")
        #expect(flow.text(.response)?.contains("X-Two: 2\r\n") == true && flow.text(.responseBody) == "xyz")
        #expect(flow[.requestBytes] == 3 && flow[.responseBytes] == 3 && flow.flags == [])
        #expect(flow.isEmpty(.sent) && flow.isEmpty(.answer))
    }

    @Test(arguments: Delivery.all)
    func ofABodyItsBeginning(_ delivery: Delivery) throws {
        let talk = Conversation(Self.keeping(body: 10), delivery: delivery)
        let long = String(repeating: "0123456789", count: 50)
        talk.exchange(
            "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 500\r\n\r\n\(long)",
            "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n\(long)")
        let flow = try #require(talk.driver.flows.first?.flow)
        #expect(flow.text(.requestBody) == "0123456789" && flow.text(.responseBody) == "0123456789")
        #expect(flow[.requestBytes] == 500 && flow[.responseBytes] == 500)
        #expect(flow.flags.isSuperset(of: [.requestBodyCut, .responseBodyCut]))
        #expect(talk.clientGot().hasSuffix(long))
    }

    @Test func bodiesOfAllExchangesHaveOneBound() throws {
        let pool = LinkPool()
        let talk = Conversation(Self.keeping(body: 100, total: 5), pool: pool)
        for _ in 0..<3 {
            talk.exchange(get, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n1234567")
        }
        let flows = talk.driver.flows.map(\.flow)
        #expect(flows.map { $0.text(.responseBody) } == ["12345", "12345", "12345"], "what is over makes room")
        #expect(flows.allSatisfy { $0.flags.contains(.responseBodyCut) })
    }

    @Test func bothSidesOfAChange() throws {
        let rule = Rule(
            name: "r", request: [SetHeader([.init("X-New", "1")])], response: [SetHeader([.init("X-Other", "2")])])
        let talk = Conversation(Self.keeping(settings { $0.rules = [rule] }))
        talk.exchange(get, ok)
        let (flow, events) = try #require(talk.driver.flows.first)
        #expect(flow.text(.request)?.contains("X-New") == false && flow.text(.sent)?.contains("X-New: 1") == true)
        #expect(
            flow.text(.answer)?.contains("X-Other") == false && flow.text(.response)?.contains("X-Other: 2") == true)
        #expect(flow.text(.sentURL) == "http://a.test/" && !events.isEmpty)
    }

    @Test func answersMadeHere() throws {
        let talk = Conversation(Self.keeping())
        talk.client("GET /nowhere HTTP/1.1\r\nHost: a.test\r\n\r\n")
        let flow = try #require(talk.driver.flows.first?.flow)
        #expect(flow[.status] == 400 && flow.flags.contains(.local) && flow.text(.proxyError) == "http_request_error")
        #expect(flow.text(.response)?.contains("Proxy-Status") == true)
        #expect(flow.text(.responseBody)?.contains("forward proxy") == true)
    }

    @Test func theCallsOfAStepUpAreFlowsOfTheirOwn() throws {
        let talk = asked(Self.keeping(stepUpSettings()))
        talk.origin(Up.success)
        talk.origin(ok)
        let flows = talk.driver.flows.map(\.flow)
        let whole = try #require(flows.last)
        #expect(whole[.parent] == 0 && whole[.attempts] == 2 && whole[.status] == 200)
        #expect(flows.count == 3 && Set(flows.map(\.id)).count == 3)
        #expect(flows.dropLast().allSatisfy { UInt64($0[.parent]) == whole.id })
        // what asked for it is there as it came
        let advised = try #require(flows.first { $0.flags.contains(.attempt) })
        #expect(advised[.status] == 401 && advised.text(.response)?.contains("SSOADVICE") == true)
        #expect(advised.text(.method) == whole.text(.method) && advised.text(.target) == whole.text(.target))
        let call = try #require(flows.first { !$0.flags.contains(.attempt) })
        #expect(call.text(.authority) == "am.test" && call[.status] == 200)
        #expect(call.text(.responseBody)?.contains("SESSION-B") == true && !call.flags.contains(.local))
    }

    @Test func whatIsCutOff() throws {
        let talk = Conversation(Self.keeping())
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
        talk.driver.originEnds()
        let flow = try #require(talk.driver.flows.first?.flow)
        #expect(flow.flags.contains(.incomplete) && flow.text(.responseBody) == "abc" && flow[.status] == 200)
        #expect(flow.text(.proxyError) == "http_response_incomplete")
    }

    @Test func timesOfThePhases() throws {
        let talk = Conversation(Self.keeping())
        talk.client(get)
        talk.driver.waits(5)
        talk.connects()
        talk.driver.waits(7)
        talk.origin(ok)
        let flow = try #require(talk.driver.flows.first?.flow)
        #expect(flow.time(.sent) == 5 && flow.time(.answered) == 12 && flow[.duration] == 12)
    }
}
