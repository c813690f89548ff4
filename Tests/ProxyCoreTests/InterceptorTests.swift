import Authorization
import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("Interceptors on a connection")
struct InterceptorTests {
    @Test(arguments: Delivery.all)
    func bothPhasesChangeHeads(_ delivery: Delivery) {
        let talk = Conversation(
            settings {
                $0.rules = [
                    .init(
                        name: "tag", request: [SetHeader([.init("X-In", "1")]), SetQuery([.init("q", "2")])],
                        response: [SetHeader([.init("X-Out", "3")]), SetStatus(203)])
                ]
            }, delivery: delivery)
        talk.exchange(get, ok)
        #expect(talk.originGot() == "GET /?q=2 HTTP/1.1\r\nHost: a.test\r\nX-In: 1\r\nVia: 1.1 usher\r\n\r\n")
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 203 ") && got.contains("X-Out: 3\r\n") && got.hasSuffix("\r\n\r\nok"))
        #expect(talk.record.status == 203 && talk.record.urlText == "http://a.test/" && talk.noted("tag"))
    }

    @Test func anotherHost() {
        let talk = Conversation(
            settings { $0.rules = [.init(name: "move", request: [SetURL("http://b.test:81/z")])] })
        talk.client(get)
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "b.test", port: 81))
        talk.connects()
        #expect(talk.originGot().hasPrefix("GET /z HTTP/1.1\r\nHost: b.test:81\r\n"))
    }

    @Test func anotherMethodDecidesAboutTheBody() {
        let talk = Conversation(settings { $0.rules = [.init(name: "head", request: [SetMethod("HEAD")])] })
        talk.exchange(get, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        // the client asked with GET, so it waits for what the head says
        #expect(talk.clientGot() == "HTTP/1.1 200 OK\r\nVia: 1.1 usher\r\nContent-Length: 0\r\n\r\n")
        #expect(talk.driver.isIdle)

        let other = Conversation(settings { $0.rules = [.init(name: "get", request: [SetMethod("GET")])] })
        other.exchange("HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", ok)
        #expect(other.clientGot() == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nVia: 1.1 usher\r\n\r\n")
        #expect(other.driver.isIdle)
    }

    @Test(arguments: Delivery.all)
    func aStatusThatHasNoBody(_ delivery: Delivery) {
        let talk = Conversation(
            settings { $0.rules = [.init(name: "none", response: [SetStatus(204)])] }, delivery: delivery)
        talk.exchange(get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        #expect(talk.clientGot() == "HTTP/1.1 204 No Content\r\nVia: 1.1 usher\r\n\r\n")
        #expect(talk.driver.isIdle && talk.driver.releases == [true])
    }

    @Test func respond() {
        let answer = DirectResponse(status: 503, headers: [.init("Retry-After", "60")], body: Array("later".utf8))
        for phase in 0..<2 {
            let rule = Rule(
                name: "gate", request: phase == 0 ? [Respond(answer)] : [],
                response: phase == 1 ? [Respond(answer)] : [])
            let talk = Conversation(settings { $0.rules = [rule] })
            talk.exchange(get, ok)
            let got = talk.clientGot()
            #expect(got.hasPrefix("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 60\r\n"))
            #expect(got.hasSuffix("Content-Length: 5\r\n\r\nlater") && got.contains("Usher-Flow: "))
            #expect(talk.driver.releases == (phase == 0 ? [] : [false]) && talk.driver.records.count == 1)
            #expect(talk.record.status == 503 && talk.driver.isIdle)
        }
    }

    @Test func abort() {
        for (rule, token) in [
            (Rule(name: "stop", request: [Abort("no")]), "http_request_denied"),
            (Rule(name: "stop", response: [Abort("no")]), "proxy_internal_error"),
        ] {
            let talk = Conversation(settings { $0.rules = [rule] })
            talk.exchange(get, ok)
            #expect(talk.record.status == 502 && talk.record.proxyError == token && talk.driver.records.count == 1)
            #expect(talk.clientGot().contains("interceptor stop aborted: no") && talk.driver.isIdle)
        }
    }

    /// An answer that was held and grew too large meets the response phase in the middle of its body.
    @Test(arguments: Delivery.all)
    func anAbortOfAHeldAnswer(_ delivery: Delivery) {
        for framing in ["Content-Length: 40\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n28\r\n"] {
            var held = stepUpSettings { $0.maxResponseBytes = 10 }
            held.rules = [.init(name: "stop", response: [Abort("no")])]
            let talk = Conversation(held, delivery: delivery)
            talk.client("GET http://shop.test/api/ HTTP/1.1\r\nHost: shop.test\r\n\r\n")
            talk.connects()
            talk.origin(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\(framing)" + String(repeating: "x", count: 40))
            #expect(talk.record.status == 502 && talk.driver.records.count == 1 && talk.driver.releases == [false])
            #expect(talk.driver.isIdle)
        }
    }

    @Test func whatUsherAnswersItself() {
        for (failure, status, token) in [
            (LeaseFailure.unresolvable("no such name"), 502, "dns_error"), (.refused("r"), 502, "connection_refused"),
            (.timedOut, 504, "connection_timeout"), (.forbidden("d"), 403, "destination_ip_prohibited"),
            (.loop, 508, "proxy_loop_detected"), (.failed("f"), 502, "destination_unavailable"),
        ] {
            let talk = Conversation()
            talk.client(get)
            talk.driver.dialFails(failure)
            let got = talk.clientGot()
            #expect(talk.record.status == status && talk.record.proxyError == token && talk.driver.isIdle)
            #expect(got.contains("Proxy-Status: usher; error=\(token); details=\"") && got.contains("Usher-Flow: "))
            #expect(got.contains("Content-Type: text/plain"))
        }
        let talk = Conversation()
        talk.client("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nAccept: application/problem+json\r\n\r\n")
        talk.driver.dialFails(.refused("say \"no\"\n"))
        let got = talk.clientGot()
        #expect(
            got.contains("application/problem+json\r\n")
                && got.contains("details=\"a.test:80 refused the connection: say \\\"no\\\"?\""))
        #expect(got.contains("\"error\":\"connection_refused\""))
    }

    @Test func httpsWithoutATunnel() {
        let talk = Conversation()
        talk.client("GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.driver.dialing == Origin(scheme: .https, host: "a.test", port: 443))
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.record.urlText == "https://a.test/")
    }

    // MARK: classification

    private let am = settings { $0.servers = [server] }

    private func post(_ path: String, _ type: String, _ body: String, chunked: Bool = false) -> String {
        "POST http://am.test\(path) HTTP/1.1\r\nHost: am.test\r\nContent-Type: \(type)\r\n"
            + (chunked
                ? "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                : "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test(arguments: Delivery.all)
    func theBodyTellsTheAction(_ delivery: Delivery) {
        for chunked in [false, true] {
            let talk = Conversation(am, delivery: delivery)
            let form = "grant_type=refresh_token&refresh_token=x"
            talk.client(
                post("/am/oauth2/alpha/access_token", "application/x-www-form-urlencoded", form, chunked: chunked))
            talk.connects()
            #expect(talk.originGot().hasSuffix("Content-Length: \(form.utf8.count)\r\n\r\n\(form)"))
            talk.origin(ok)
            #expect(talk.record.action == .refreshToken && talk.record.realm == "/alpha")
        }
    }

    @Test(arguments: Delivery.all)
    func aBodyPastThePeekIsStreamedAllTheSame(_ delivery: Delivery) {
        let count = 70_000
        let body = "{\"authId\":\"" + String(repeating: "x", count: count) + "\"}"
        // byte by byte this would only take long
        if case .byteByByte = delivery { return }
        for chunked in [false, true] {
            let talk = Conversation(am, delivery: delivery)
            talk.client(post("/am/json/authenticate", "application/json", body, chunked: chunked))
            talk.connects()
            #expect(talk.originGot().contains(body))
            talk.origin(ok)
            #expect(talk.record.status == 200 && talk.driver.isIdle)
        }
    }

    @Test(arguments: Delivery.all)
    func flowsAreRemembered(_ delivery: Delivery) {
        let flows = Flows()
        let talk = Conversation(am, flows: flows, delivery: delivery)
        let step = "{\"authId\":\"opaque\",\"callbacks\":[]}"
        let answer =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(step.utf8.count)\r\n\r\n\(step)"
        talk.exchange(
            post("/am/json/authenticate?authIndexType=service&authIndexValue=Login", "application/json", ""), answer)
        #expect(talk.clientGot().hasSuffix(step) && talk.record.action == .startAuthenticate)
        #expect(flows.payloads["opaque"] == ActionPayload(tree: "Login", type: "service"))
        talk.exchange(post("/am/json/authenticate", "application/json", step), answer)
        #expect(talk.record.action == .authenticate && talk.record.tree == "Login")
    }

    @Test func otherHostsAreNotAM() {
        let talk = Conversation(am)
        talk.exchange(
            "POST http://a.test/am/json/authenticate HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\n{}", ok)
        #expect(talk.record.action == nil && talk.record.status == 200)
    }
}
