import HTTPCodec
import ProxyCore
import Testing

@testable import Interception

/// Named faults and variations that change how an exchange goes, not only its messages.
@Suite("Named faults on their way")
struct NamedFaultDeliveryTests {
    private func talk(_ builtIn: any BuiltIn, sampling: Sampling = Sampling(), _ more: Rule...) -> Conversation {
        Conversation(
            settings {
                var rule = Rule(name: "fault", sampling: sampling)
                rule.equip(with: builtIn)
                $0.rules = [rule] + more
            })
    }

    private func fault(_ name: String) throws -> FaultByName {
        FaultByName(try #require(FaultCatalogue.fault(named: name)))
    }

    @Test(
        "An origin that is pretended to be lost is not dialled",
        arguments: [
            ("network-dns-failed", 502, "dns_error", "could not be resolved: it does not exist (NXDOMAIN)"),
            ("network-connection-refused", 502, "connection_refused", "refused the connection"),
            ("network-connection-timeout", 504, "connection_timeout", "did not accept a connection"),
        ])
    func lostOrigins(_ name: String, _ status: Int, _ token: String, _ words: String) throws {
        let talk = talk(try fault(name), sampling: Sampling(first: 1))
        talk.client(get)
        let text = talk.clientGot()
        #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.contains("Proxy-Status: usher; error=\(token); details="))
        #expect(text.contains(words) && talk.driver.dials == 0 && talk.record.status == status, "\(text)")
        // the next exchange is whole
        talk.exchange(get, ok)
        #expect(talk.driver.dials == 1 && talk.driver.records.map(\.status) == [status, 200])
    }

    @Test func interceptorsOfErrorsSeeALostOrigin() throws {
        let rest = Rule(
            name: "rest", when: .test(.error, [.exact("dns")]), error: [Respond(DirectResponse(status: 418))])
        let talk = talk(try fault("network-dns-failed"), rest)
        talk.client(get)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 418 ") && talk.driver.dials == 0)
    }

    @Test("A body in chunks is the same in every version")
    func chunks() throws {
        let seed = try #require(
            (0..<500).first { Variation(seed: $0).chunk == 7 && Variation(seed: $0).names == .kept })
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"a\":\"long\"}"
        let chunked = talk(Vary(seed: seed))
        chunked.exchange(get, answer)
        // as it is on the wire
        let text = String(decoding: chunked.driver.sent, as: UTF8.self)
        #expect(text.contains("Transfer-Encoding: chunked\r\n") && !text.contains("Content-Length"))
        #expect(text.hasSuffix("\r\n\r\n7\r\n{\"a\":\"l\r\n5\r\nong\"}\r\n0\r\n\r\n"), "\(text)")
        let old = talk(Vary(seed: seed))
        old.exchange("GET http://a.test/ HTTP/1.0\r\nHost: a.test\r\n\r\n", answer)
        #expect(old.clientGot().hasSuffix("\r\n\r\n{\"a\":\"long\"}"))
        let head = talk(Vary(seed: seed))
        head.exchange(
            "HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n")
        #expect(head.driver.isIdle && head.clientGot().hasSuffix("\r\n\r\n"))
    }
}
