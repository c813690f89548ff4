import Formats
import Journal
import Testing

/// Flows as entries of an HTTP Archive.
struct HAREntryTests {
    @Test("An entry has all required members, and its times add up")
    func whole() throws {
        let flow = FlowSamples.flow {
            ($0.method, $0.duration) = ("POST", 100)
            $0.requestBody = Array("a=1".utf8)
            $0.responseBody = [0xFF, 0x00]
            $0.response =
                "Content-Type: image/png\r\nSet-Cookie: s=cookie#1; Path=/x; HttpOnly; Secure\r\nLocation: /y\r\n"
            $0.marks = [.resolving: 2, .connecting: 10, .securing: 20, .sent: 40, .answered: 90]
        }
        let entry = try #require(HAREntry(flow)).value
        let text = entry.serialized
        #expect(entry["startedDateTime"]?.text == "2023-11-14T22:13:20.000Z")
        let timings = try #require(entry["timings"])
        #expect(
            timings.serialized
                == #"{"blocked":2,"dns":8,"connect":30,"ssl":20,"send":0,"wait":50,"receive":10}"#)
        #expect(entry["request"]?["postData"]?["text"]?.text == "a=1")
        #expect(
            entry["request"]?["queryString"]?.serialized
                == #"[{"name":"realm","value":"/alpha"},{"name":"x","value":"a b"}]"#)
        #expect(
            entry["request"]?["cookies"]?.serialized
                == #"[{"name":"a","value":"1"},{"name":"session","value":"session#3"}]"#)
        let response = try #require(entry["response"])
        #expect(response["content"]?["encoding"]?.text == "base64" && response["content"]?["text"]?.text == "/wA=")
        #expect(response["redirectURL"]?.text == "/y" && response["statusText"]?.text == "OK")
        #expect(response["cookies"]?[0]?["httpOnly"]?.isTrue == true && response["cookies"]?[0]?["path"]?.text == "/x")
        #expect(try JSONValue(parsing: text) == entry)
    }

    @Test(
        "The TLS time is part of the connect time, and the total is the sum of the phases",
        arguments: [
            [FlowNumber.resolving: 2, .connecting: 10, .securing: 20, .sent: 40, .answered: 90],
            [.securing: 20, .sent: 40, .answered: 90], [.connecting: 5, .sent: 40], [.sent: 40, .answered: 90],
            [.resolving: 1, .securing: 3, .sent: 9], [:], [.resolving: 50, .connecting: 60, .sent: 10, .answered: 12],
        ])
    func phases(_ marks: [FlowNumber: Int]) throws {
        let flow = FlowSamples.flow { ($0.marks, $0.duration) = (marks, 100) }
        let entry = try #require(HAREntry(flow)).value
        let timings = try #require(entry["timings"])
        func phase(_ name: String) -> Int { timings[name]?.integer ?? -2 }
        #expect(phase("ssl") <= phase("connect"))
        let sum = ["blocked", "dns", "connect", "send", "wait", "receive"].map { max(0, phase($0)) }.reduce(0, +)
        #expect(entry["time"]?.integer == sum && sum == 100)
    }

    @Test("Unknown times are -1, and a request without a response has an entry")
    func unknown() throws {
        let flow = FlowSamples.flow {
            ($0.status, $0.error, $0.response, $0.duration) = (0, "connection_refused", "", 7)
        }
        let entry = try #require(HAREntry(flow)).value
        #expect(
            entry["timings"]?.serialized
                == #"{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":0,"wait":7,"receive":0}"#)
        #expect(
            entry["response"]?["status"]?.integer == 0 && entry["response"]?["_error"]?.text == "connection_refused")
        #expect(HAREntry(FlowSamples.flow { $0.scheme = 0 }) == nil)
    }

    @Test("Times of an earlier attempt are left out")
    func attempts() throws {
        let flow = FlowSamples.flow { $0.marks = [.resolving: 50, .connecting: 60, .sent: 10, .answered: 12] }
        #expect(FlowTime(flow).answering == nil && FlowTime(flow).waited == nil)
    }
}
