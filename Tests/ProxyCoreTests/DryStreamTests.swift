import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

@Suite("A request in HTTP/2 without a network")
struct DryStreamTests {
    private static let opened = settings {
        $0.interception.hosts = [DestinationPattern("a.test")].compactMap { $0 }
        $0.rules = [
            Rule(
                name: "tag", request: [SetHeader([.init("X-In", "1")])], response: [SetHeader([.init("X-Out", "1")])])
        ]
    }

    private func head(_ method: String, _ url: String, _ fields: [(String, String)] = []) throws -> RequestHead {
        var head = try RequestHead(method: method, url: url)
        for (name, value) in fields { head.fields.add(name, value) }
        return head
    }

    private func run(
        _ head: RequestHead, _ body: String = "", _ settings: Settings = opened, in tunnel: Origin? = nil,
        answer: String? = nil
    ) -> DryRun {
        DryRun(
            .stream(head, body: Array(body.utf8)), in: tunnel, settings,
            pages: OwnPages(["/": .init(type: "text/plain", body: Array("here".utf8))]),
            origin: answer.map { .always(.bytes(Array($0.utf8))) } ?? .silent)
    }

    private static let origin = Origin(scheme: .https, host: "a.test", port: 443)

    @Test func itIsSentAsTheOtherSideHasIt() throws {
        let done = run(
            try head("POST", "https://a.test/x?y", [("x-own", "1"), ("cookie", "a=1")]), "hello", in: Self.origin)
        guard case .sent(let sent, let body) = done.outcome else {
            Issue.record("\(done.outcome)")
            return
        }
        #expect(sent.url == "https://a.test/x?y" && String(decoding: body, as: UTF8.self) == "hello")
        #expect(sent.fields["x-own"] == "1" && sent.fields["x-in"] == "1" && sent.fields["via"] == "2.0 usher")
        #expect(sent.fields["transfer-encoding"] == "chunked", "nothing says how long it is")
        let told = run(try head("POST", "https://a.test/", [("content-length", "5")]), "hello", in: Self.origin)
        if case .sent(let sent, _) = told.outcome { #expect(sent.fields["content-length"] == "5") }
        #expect(done.received == nil && done.ending == .open)
    }

    @Test(arguments: [nil, origin]) func theAnswerComesBack(_ tunnel: Origin?) throws {
        let large = String(repeating: "0123456789abcdef", count: 40_000)
        let done = run(
            try head("GET", tunnel == nil ? "http://a.test/" : "https://a.test/"), in: tunnel,
            answer: "HTTP/1.1 200 OK\r\nContent-Length: \(large.utf8.count)\r\n\r\n\(large)")
        #expect(done.received?.head.status == 200 && done.received?.head.fields["x-out"] == "1")
        #expect(done.received?.isWhole == true && done.received?.body == Array(large.utf8))
        #expect(done.ending == .open, "the connection is good for further streams")
    }

    @Test func aCutAnswerIsNotWhole() throws {
        let done = run(
            try head("GET", "http://a.test/"), answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        #expect(done.received?.isWhole == false && done.received?.body == Array("half".utf8))
    }

    @Test func ownAnswersAndPages() throws {
        let denied = settings {
            $0.rules = [Rule(name: "stop", request: [Respond(DirectResponse(status: 418, body: Array("no".utf8)))])]
        }
        let stopped = run(try head("GET", "http://a.test/"), "", denied)
        #expect(stopped.received?.head.status == 418 && stopped.received?.body == Array("no".utf8))
        #expect(run(try head("GET", "http://usher.proxy/")).received?.body == Array("here".utf8))
        // the tunnel's host is the only one there
        #expect(run(try head("GET", "https://b.test/"), in: Self.origin).received?.head.status == 421)
    }

    @Test func whoKnowsBeforehandIsNotUnderstood() throws {
        let done = run(try head("GET", "http://a.test/"), "", settings { $0.http2.clients = false })
        guard case .answered(let status) = done.outcome else {
            Issue.record("\(done.outcome)")
            return
        }
        #expect(status == 505 && done.received == nil && done.ending == .closed)
    }

    @Test func aWebSocket() throws {
        let done = run(
            try head("GET", "https://a.test/chat", [("Connection", "Upgrade"), ("Upgrade", "websocket")]),
            in: Self.origin)
        guard case .sent(let sent, _) = done.outcome else {
            Issue.record("\(done.outcome)")
            return
        }
        #expect(sent.methodText == "GET" && sent.fields["upgrade"] == "websocket")
        #expect(sent.fields["sec-websocket-key"] != nil)
    }
}
