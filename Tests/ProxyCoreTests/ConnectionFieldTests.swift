import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("The Connection field")
struct ConnectionFieldTests {
    @Test("The client's Connection field does not remove an interceptor's request fields", arguments: Delivery.all)
    func requestEditsStay(_ delivery: Delivery) {
        let settings = settings {
            $0.rules = [
                .init(
                    name: "env",
                    request: [
                        SetHeader([.init("X-Env", "staging"), .init("Authorization", "Bearer robot")]),
                        Interception.SetCookie(CookieEdit(name: "route", value: "b")),
                    ])
            ]
        }
        let talk = Conversation(settings, delivery: delivery)
        talk.client(
            "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Env: mine\r\nX-Own: 1\r\n"
                + "Connection: X-Env, x-own, Cookie, Authorization\r\nConnection: host, Via\r\nVia: 1.1 other\r\n\r\n")
        talk.connects()
        #expect(
            talk.originGot()
                == "GET / HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 other\r\nX-Env: staging\r\nAuthorization: Bearer robot\r\n"
                + "Cookie: route=b\r\nVia: 1.1 usher\r\n\r\n")
    }

    @Test("Connection removes no fields of framing, target or route")
    func framingStays() {
        let talk = Conversation()
        talk.client(
            "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nCookie: a=b\r\nAuthorization: Basic eDp5\r\nX-A: 1\r\n"
                + "Via: 1.1 other\r\nContent-Length: 2\r\n"
                + "Connection: cookie, authorization, x-a, host, via, content-length, transfer-encoding\r\n\r\nab")
        talk.connects()
        #expect(
            talk.originGot()
                == "POST / HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 other\r\nVia: 1.1 usher\r\nContent-Length: 2\r\n\r\nab")
    }

    @Test("Conditions see only the fields that are forwarded")
    func rulesSeeTheRest() {
        let settings = settings {
            $0.rules = [
                .init(
                    name: "seen", when: .test(.header("X-Mode"), [.exact("debug")]),
                    request: [SetHeader([.init("X-Seen", "1")])])
            ]
        }
        let talk = Conversation(settings)
        talk.client("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Mode: debug\r\nConnection: X-Mode\r\n\r\n")
        talk.connects()
        #expect(talk.originGot() == getForOrigin)
    }

    @Test("The origin's Connection field does not remove an interceptor's response fields", arguments: Delivery.all)
    func responseEditsStay(_ delivery: Delivery) {
        let settings = settings {
            $0.rules = [
                .init(
                    name: "frames",
                    response: [
                        SetHeader([.init("X-Frame-Options", "DENY")]),
                        Interception.SetCookie(CookieEdit(name: "a", value: "b")),
                    ])
            ]
        }
        let talk = Conversation(settings, delivery: delivery)
        talk.exchange(
            get,
            "HTTP/1.1 200 OK\r\nConnection: X-Frame-Options, Set-Cookie, X-Hop\r\nX-Hop: 1\r\nSet-Cookie: c=d\r\n"
                + "Content-Length: 2\r\n\r\nok")
        #expect(
            talk.clientGot()
                == "HTTP/1.1 200 OK\r\nX-Frame-Options: DENY\r\nSet-Cookie: a=b\r\n"
                + "Via: 1.1 usher\r\nContent-Length: 2\r\n\r\nok")
    }

    @Test("Too many connection options are an error, from either side")
    func tooMany() {
        let options = (0..<65).map { "x\($0)" }.joined(separator: ",")
        var talk = Conversation()
        talk.client("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: \(options)\r\n\r\n")
        #expect(talk.record.status == 400 && talk.clientGot().contains("(tooManyConnectionOptions, byte "))
        #expect(talk.driver.dials == 0)
        talk = Conversation()
        talk.exchange(get, "HTTP/1.1 200 OK\r\nConnection: \(options)\r\nContent-Length: 2\r\n\r\nok")
        #expect(talk.record.status == 502 && talk.noted("tooManyConnectionOptions"))
    }

    @Test("An upgrade keeps its Upgrade field, and drops the other named fields")
    func upgrades() {
        let talk = Conversation()
        talk.client(
            "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, X-A\r\nX-A: 1\r\nUpgrade: websocket\r\n\r\n"
        )
        talk.connects()
        #expect(
            talk.originGot()
                == "GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\nConnection: upgrade\r\nVia: 1.1 usher\r\n\r\n"
        )
    }
}

@Suite("Via, Date, Expect and Host")
struct HopTests {
    @Test("Via names the version that was received", arguments: ["1.0", "1.1"], ["1.0", "1.1"])
    func via(_ asked: String, _ answered: String) {
        let talk = Conversation()
        talk.client("GET http://a.test/ HTTP/\(asked)\r\nHost: a.test\r\nConnection: close\r\n\r\n")
        talk.connects()
        #expect(talk.originGot() == "GET / HTTP/1.1\r\nHost: a.test\r\nVia: \(asked) usher\r\n\r\n")
        talk.origin("HTTP/\(answered) 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(
            talk.clientGot()
                == "HTTP/1.1 200 OK\r\nConnection: close\r\nVia: \(answered) usher\r\nContent-Length: 2\r\n\r\nok")
    }

    @Test(
        "A loop is detected by Via, in any spelling",
        arguments: [
            "Via: 1.1 usher", "Via: 1.0 other, 1.1\tUSHER (Usher)", "Via: 1.1 other\r\nvia: HTTP/1.0  usher",
        ])
    func loops(_ via: String) {
        let talk = Conversation()
        talk.client("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\(via)\r\n\r\n")
        #expect(talk.record.status == 508)
    }

    @Test("Other names in Via are no loop", arguments: ["Via: usher", "Via: 1.1 ushers, 1.1", "Via: 1.1 a usher"])
    func noLoops(_ via: String) {
        let talk = Conversation()
        talk.exchange("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\(via)\r\n\r\n", ok)
        #expect(talk.record.status == 200)
    }

    private let date = "Sat, 21 Nov 2026 09:25:00 GMT"

    @Test("Only a response without Date gets one")
    func dates() {
        let talk = Conversation()
        talk.driver.tell(time: 1_795_253_100)
        talk.exchange(get, ok)
        #expect(
            talk.clientGot()
                == "HTTP/1.1 200 OK\r\nVia: 1.1 usher\r\nDate: \(date)\r\nContent-Length: 2\r\n\r\nok")
        talk.exchange(get, "HTTP/1.1 200 OK\r\ndate: yesterday\r\nContent-Length: 2\r\n\r\nok")
        #expect(
            talk.clientGot()
                == "HTTP/1.1 200 OK\r\ndate: yesterday\r\nVia: 1.1 usher\r\nContent-Length: 2\r\n\r\nok")
        talk.driver.tell(time: 1_795_253_161)
        talk.exchange(get, "HTTP/1.1 103 Early\r\n\r\n" + ok)
        #expect(
            talk.clientGot()
                == "HTTP/1.1 103 Early\r\nVia: 1.1 usher\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nVia: 1.1 usher\r\nDate: Sat, 21 Nov 2026 09:26:01 GMT\r\nContent-Length: 2\r\n\r\nok"
        )
    }

    @Test("Responses made by Usher have a Date")
    func ownDates() {
        let talk = Conversation(
            settings {
                $0.rules = [
                    .init(
                        name: "own", when: .test(.path, [.exact("/own")]),
                        request: [Respond(DirectResponse(status: 200, body: Array("own".utf8)))]),
                    .init(
                        name: "dated", when: .test(.path, [.exact("/dated")]),
                        request: [Respond(DirectResponse(status: 200, headers: [.init("date", "never")]))]),
                ]
            })
        talk.driver.tell(time: 1_795_253_100)
        talk.client("GET http://a.test/own HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.clientGot().contains("\r\nDate: \(date)\r\n"))
        talk.client("GET http://a.test/dated HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(!talk.clientGot().contains(date))
        talk.client("TRACE http://a.test/ HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\n\r\n")
        #expect(talk.clientGot().contains("\r\nDate: \(date)\r\n"))
        talk.client("GET http://a.test/ HTTP/2.0\r\n\r\n")
        #expect(talk.clientGot().contains("\r\nDate: \(date)\r\n"))
    }

    // MARK: Expect

    @Test("An unknown expectation is forwarded, also with a buffered body")
    func otherExpectations() {
        for expectation in ["x-quick", "100-continue, x-quick"] {
            let talk = Conversation(stepUpSettings())
            talk.client(
                "POST http://shop.test/api/x HTTP/1.1\r\nHost: shop.test\r\nExpect: \(expectation)\r\nContent-Length: 3\r\n\r\n"
            )
            #expect(talk.clientGot() == (expectation == "x-quick" ? "" : "HTTP/1.1 100 Continue\r\n\r\n"))
            talk.client("abc")
            talk.connects()
            #expect(talk.originGot().contains("\r\nExpect: \(expectation)\r\n"))
            talk.origin("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")
            #expect(talk.record.status == 417)
        }
    }

    @Test("Expect from an HTTP/1.0 client is dropped")
    func oldExpectation() {
        let talk = Conversation()
        talk.client("POST http://a.test/ HTTP/1.0\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        talk.connects()
        #expect(talk.originGot() == "POST / HTTP/1.1\r\nHost: a.test\r\nVia: 1.0 usher\r\nContent-Length: 3\r\n\r\n")
        talk.client("abc")
        talk.origin(ok)
        #expect(talk.record.status == 200)
    }

    // MARK: Host

    @Test(
        "An empty Host is replaced by the host of an absolute URL",
        arguments: [
            "GET http://a.test:/ HTTP/1.1\r\nHost:", "GET http://a.test/ HTTP/1.1\r\nHost: ",
            "GET http://a.test/ HTTP/1.1\r\nHost: a.test:",
        ])
    func emptyHost(_ sent: String) {
        let talk = Conversation()
        talk.client(sent + "\r\n\r\n")
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "a.test", port: 80))
        talk.connects()
        #expect(talk.originGot() == getForOrigin)
    }

    @Test("A final dot and capitals do not make another origin")
    func oneOrigin() {
        let talk = Conversation()
        for host in ["a.test", "A.Test.", "a.test.:80"] {
            talk.client("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            if talk.driver.dialing != nil { talk.connects() }
            talk.origin(ok)
        }
        #expect(talk.driver.dials == 1)
        #expect(talk.driver.records.count == 3)
    }
}
