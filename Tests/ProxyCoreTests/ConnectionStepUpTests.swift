import Authorization
import Formats
import Interception
import ProxyCore
import Testing

@Suite("Step-up on a connection")
struct ConnectionStepUpTests {
    typealias Up = SteppingUp

    // MARK: the dances

    @Test(arguments: Delivery.all)
    func headerForm(_ delivery: Delivery) throws {
        for (request, method, body) in [(Up.get, "GET", ""), (Up.post, "POST", "a=1&b=2")] {
            let talk = Conversation(stepUpSettings(), delivery: delivery)
            talk.client(request)
            talk.connects()
            #expect(talk.originGot().contains("x-authenticate-response: header\r\n"))
            talk.origin(Up.refused())
            #expect(talk.clientGot() == "")
            let am = talk.connects()
            let call = talk.originGot()
            #expect(!call.contains("\r\nConnection:"))
            #expect(
                call.hasPrefix("POST /am/json/realms/root/authenticate?authIndexType=composite_advice&authIndexValue="))
            #expect(
                call.contains("Cookie: iPlanetDirectoryPro=SESSION-A\r\n")
                    && call.hasSuffix("Content-Length: 0\r\n\r\n"))
            talk.origin(Up.step)
            // no request of a client has a connection that calls use
            #expect(talk.connects() !== am)
            #expect(talk.originGot().contains("\"value\":\"robot\""))
            talk.origin(Up.success)
            if method == "POST" { talk.connects() }
            let path = method == "GET" ? "cart" : "pay"
            let got = talk.originGot()
            #expect(got.hasPrefix("\(method) /api/\(path)?_txid=t-1 HTTP/1.1\r\nHost: shop.test\r\n\(Up.session)\r\n"))
            #expect(got.hasSuffix("\r\n\r\n\(body)"))
            talk.origin(ok)
            #expect(talk.clientGot() == okForClient)
            #expect(talk.record.attempts == 2 && talk.record.status == 200 && talk.driver.records.count == 1)
            #expect(talk.driver.isIdle && talk.driver.pool.count == (method == "GET" ? 3 : 4))
            let notes = talk.notes.joined(separator: "\n")
            for secret in ["SESSION", "t-1", "robot", "a1"] { #expect(!notes.contains(secret), "\(notes)") }
        }
    }

    @Test(arguments: Delivery.all)
    func anAdviceThatCannotBeRead(_ delivery: Delivery) {
        for line in ["WWW-Authenticate: SSOADVICE advices=\"%%%\"", "Location: /am/?authIndexType=composite_advice"] {
            let talk = Conversation(stepUpSettings(), delivery: delivery)
            talk.client(Up.get)
            talk.connects()
            _ = talk.originGot()
            let status = line.hasPrefix("Location") ? "302 Found" : "401 Unauthorized"
            talk.origin("HTTP/1.1 \(status)\r\n\(line)\r\nContent-Length: 2\r\n\r\nno")
            let got = talk.clientGot()
            #expect(got.hasPrefix("HTTP/1.1 \(status)\r\n\(line)\r\n") && got.hasSuffix("\r\n\r\nno"))
            #expect(talk.notes.filter { $0.contains("none that can be read") }.count == 1, "\(talk.notes)")
            #expect(talk.record.attempts == 1)
        }
    }

    @Test(arguments: Delivery.all)
    func redirectForm(_ delivery: Delivery) {
        let xml =
            "<Advices><AttributeValuePair><Attribute name=\"TransactionConditionAdvice\"/><Value>t-9</Value></AttributeValuePair></Advices>"
        let location =
            "http://am.test/am/?goto=x&realm=%2F&authIndexType=composite_advice&authIndexValue=\(PercentCoding.encode(xml))"
        let talk = asked(
            refused: "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n", delivery: delivery)
        talk.origin(Up.success)
        #expect(talk.originGot().contains("GET /api/cart?_txid=t-9 HTTP/1.1\r\n"))
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
    }

    @Test(arguments: Delivery.all)
    func bodyForm(_ delivery: Delivery) {
        var evaluate = stepUpSettings()
        evaluate.authorization[0].resources = [.init(url: "http://am.test/am/json/*")]
        let question = "{\"resources\":[\"r\"],\"subject\":{\"ssoToken\":\"SESSION-U\"}}"
        let talk = Conversation(evaluate, delivery: delivery)
        talk.client(
            "POST http://am.test/am/json/policies?_action=evaluate HTTP/1.1\r\nHost: am.test\r\n"
                + "Content-Type: application/json\r\nCookie: iPlanetDirectoryPro=AGENT\r\nContent-Length: \(question.utf8.count)\r\n\r\n\(question)"
        )
        talk.connects()
        _ = talk.originGot()
        talk.origin(Up.json("[{\"resource\":\"r\",\"actions\":{},\"attributes\":{},\"advices\":\(Up.transaction)}]"))
        talk.connects()
        let call = talk.originGot()
        #expect(call.contains("Cookie: iPlanetDirectoryPro=SESSION-U\r\n"))
        talk.origin(Up.success)
        talk.connects()
        #expect(talk.originGot().contains("\"environment\":{\"TxId\":[\"t-1\"]}"))
        talk.origin(Up.json("[{\"resource\":\"r\",\"actions\":{\"GET\":true}}]"))
        #expect(talk.clientGot().hasSuffix("\"actions\":{\"GET\":true}}]") && talk.record.attempts == 2)
    }

    @Test(arguments: Delivery.all)
    func upgradeThenTransaction(_ delivery: Delivery) {
        let talk = asked(refused: Up.refused(Up.upgrade), delivery: delivery)
        _ = talk.originGot()
        talk.origin(
            Up.json(
                "{\"tokenId\":\"SESSION-B\"}",
                fields: "Set-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/; Domain=am.test\r\n"))
        #expect(
            talk.originGot().contains(
                "GET /api/cart HTTP/1.1\r\nHost: shop.test\r\nCookie: iPlanetDirectoryPro=SESSION-B\r\n"))
        talk.origin(Up.refused())
        talk.connects()
        #expect(talk.originGot().contains("Cookie: iPlanetDirectoryPro=SESSION-B\r\n"))
        talk.origin(Up.success)
        #expect(
            talk.originGot().contains(
                "GET /api/cart?_txid=t-1 HTTP/1.1\r\nHost: shop.test\r\nCookie: iPlanetDirectoryPro=SESSION-B\r\n"))
        talk.origin(ok)
        // the client has to go on with the new session
        #expect(
            talk.clientGot()
                == "HTTP/1.1 200 OK\r\nSet-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\nVia: 1.1 usher\r\nContent-Length: 2\r\n\r\nok"
        )
        #expect(talk.record.attempts == 3)
    }

    @Test func eachResourceHasItsOwnServer() {
        let two = AuthorizationServer(url: "http://two.test/am", host: "two.test", realms: ["/", "/alpha"])
        var settings = stepUpSettings()
        settings.servers.append(two)
        settings.authorization.insert(.init(resources: [.init(url: "http://pay.test/*")], server: two), at: 0)
        let talk = Conversation(settings)
        talk.client(Up.get)
        talk.connects()
        _ = talk.originGot()
        talk.origin(Up.refused())
        talk.connects()
        #expect(talk.originGot().contains("Host: am.test\r\n"))
        let other = Conversation(settings)
        other.client(Up.get.replacing("shop.test", with: "pay.test"))
        other.connects()
        _ = other.originGot()
        other.origin(Up.refused())
        other.connects()
        #expect(other.originGot().contains("Host: two.test\r\n"))
    }

    @Test func aSecondTransactionIsTheClientsOwn() {
        let talk = asked()
        talk.origin(Up.success)
        talk.origin(Up.refused())
        #expect(talk.clientGot() == Up.original() && talk.record.attempts == 2)
        #expect(talk.noted("after the last one allowed"))
    }

    @Test func aReplayOnAStaleConnection() {
        let talk = asked()
        talk.origin(Up.success)
        talk.driver.originEnds()
        talk.connects()
        #expect(talk.originGot().contains("_txid=t-1"))
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
    }

    @Test func anAnswerThatIsNoAdvicePasses() {
        for answer in ["HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nok", Up.json("{}"), ok] {
            let talk = Conversation(stepUpSettings())
            talk.client(Up.get)
            talk.connects()
            talk.origin(answer)
            #expect(
                talk.clientGot().hasSuffix(String(answer.suffix(2))) && talk.driver.dials == 1 && talk.driver.isIdle)
        }
    }

    // MARK: when no step-up takes place

    @Test func clientsThatHandleAdvice() {
        let talk = Conversation(stepUpSettings())
        talk.client(Up.get.replacing("Host", with: "X-Authenticate-Response: header\r\nHost"))
        talk.connects()
        talk.origin(Up.refused())
        #expect(talk.clientGot() == Up.original() && talk.noted("handles advice itself") && talk.driver.dials == 1)
    }

    @Test func noSession() {
        let talk = Conversation(stepUpSettings())
        talk.client("GET http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        talk.connects()
        talk.origin(Up.refused())
        #expect(talk.clientGot() == Up.original() && talk.noted("carries no session"))
    }

    @Test(arguments: Delivery.all)
    func aBodyOverTheLimitIsStreamed(_ delivery: Delivery) {
        for (framing, count) in [
            ("Content-Length: 10\r\n\r\n0123456789", 10), ("Content-Length: 11\r\n\r\n0123456789x", 11),
            ("Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n", 10),
            ("Transfer-Encoding: chunked\r\n\r\nb\r\n0123456789x\r\n0\r\n\r\n", 11),
        ] {
            let talk = Conversation(stepUpSettings { $0.maxBodyBytes = 10 }, delivery: delivery)
            talk.client("POST http://shop.test/api/pay HTTP/1.1\r\nHost: shop.test\r\n\(Up.session)\r\n\(framing)")
            talk.connects()
            let got = talk.originGot()
            #expect(got.contains("x-authenticate-response") == (count == 10))
            #expect(got.contains(count == 10 ? "0123456789" : "0123456789x"))
            talk.origin(Up.refused())
            if count == 10 {
                #expect(talk.driver.dialing?.host == "am.test")
            } else {
                #expect(talk.clientGot() == Up.original() && talk.noted("larger than authorization.body_limit"))
            }
        }
    }

    @Test(arguments: Delivery.all)
    func anAnswerOverTheLimitPassesUnread(_ delivery: Delivery) {
        for (body, framing) in [
            ("0123456789x", "Content-Length: 11\r\n\r\n0123456789x"),
            ("0123456789xy", "Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n7\r\n56789xy\r\n0\r\n\r\n"),
        ] {
            let settings = stepUpSettings {
                $0.maxResponseBytes = 10
                $0.resources[0].advice = [.header, .body]
            }
            let talk = Conversation(settings, delivery: delivery)
            talk.client(Up.get)
            talk.connects()
            talk.origin("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\(framing)")
            #expect(talk.clientGot().contains(body) && talk.driver.isIdle && talk.driver.records.count == 1)
            #expect(talk.noted("too large to examine"))
        }
    }

    // MARK: failures: the client gets what it would have got

    @Test(arguments: [
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "500"),
        (SteppingUp.json("{\"code\":401}", status: "401 Unauthorized"), "401"),
        ("HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 0\r\n\r\n", "302"),
        (SteppingUp.json("[]"), "not a JSON object"), (SteppingUp.json("{"), "not a JSON object"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "is not valid HTTP"),
        ("HTTP/1.1 101 Switching\r\n\r\n", "switched protocols"), ("SSH-2.0\r\n\r\n", "is not valid HTTP"),
        (
            SteppingUp.json(
                "{\"authId\":\"a\",\"callbacks\":[{\"type\":\"OddCallback\",\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}]}"
            ), "OddCallback"
        ),
        (SteppingUp.json("{\"pad\":\"\(String(repeating: "x", count: 3000))\"}"), "larger than"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n" + String(repeating: "x", count: 4096),
            "larger than"
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "is not valid HTTP"),
    ])
    func hostileAnswersOfAM(_ answer: String, _ reason: String) {
        for delivery in Delivery.all {
            for request in [Up.get, Up.post] {
                let talk = asked(stepUpSettings { $0.maxResponseBytes = 2000 }, request: request, delivery: delivery)
                talk.origin(answer)
                #expect(talk.clientGot() == Up.original(), "\(delivery)")
                #expect(talk.noted(reason) && talk.noted("the original response was delivered"), "\(talk.notes)")
                #expect(talk.driver.records.count == 1 && talk.record.status == 401 && talk.driver.isIdle)
                #expect(talk.driver.origin == nil && talk.driver.releases.count == 2)
            }
        }
    }

    @Test func anAnswerOfAMAtTheLimit() {
        let body = "{\"tokenId\":\"SESSION-B\",\"pad\":\"\"}"
        for (limit, status) in [(body.utf8.count, 200), (body.utf8.count - 1, 401)] {
            let talk = asked(stepUpSettings { $0.maxResponseBytes = limit })
            talk.origin(Up.json(body))
            if status == 200 { talk.origin(ok) }
            #expect(talk.record.status == status && talk.driver.records.count == 1)
        }
    }

    @Test func noConnectionToAM() {
        let talk = Conversation(stepUpSettings())
        talk.client(Up.get)
        talk.connects()
        talk.origin(Up.refused())
        talk.driver.dialFails(.refused("Connection refused"))
        #expect(talk.clientGot() == Up.original() && talk.noted("refused the connection") && talk.driver.isIdle)
    }

    @Test func aMBreaksOff() {
        for part in ["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"] {
            let talk = asked()
            talk.origin(part)
            talk.driver.originEnds()
            #expect(talk.clientGot() == Up.original() && talk.driver.isIdle && talk.driver.releases == [true, false])
        }
    }

    @Test func tooManySteps() {
        let talk = asked(stepUpSettings { $0.maxSteps = 3 })
        for _ in 0..<3 {
            if talk.driver.dialing != nil { talk.connects() }
            talk.origin(Up.message)
        }
        #expect(talk.clientGot() == Up.original() && talk.noted("3 calls allowed"))
    }

    @Test func sessionsGoToTheConfiguredServerAlone() {
        let talk = asked(refused: Up.refused(am: "http://evil.test/am"))
        #expect(talk.originGot().contains("Host: am.test\r\n"))
        talk.driver.clientEnds()
        #expect(talk.noted("only http://am.test/am is asked"))
        var rewritten = stepUpSettings()
        rewritten.rules = [
            .init(
                name: "move", when: .test(.action, [.exact("START_AUTHENTICATE")]),
                request: [SetURL("http://evil.test/")])
        ]
        let moved = Conversation(rewritten)
        moved.client(Up.get)
        moved.connects()
        moved.origin(Up.refused())
        #expect(moved.driver.dialing == nil && moved.clientGot() == Up.original())
        #expect(moved.noted("evil.test, which is not the configured AM"))
    }

    @Test func interceptorsOnCallsToAM() {
        func rule(_ request: [any RequestEdit], _ response: [any ResponseEdit]) -> Settings {
            var settings = stepUpSettings()
            settings.rules = [
                .init(
                    name: "am",
                    when: .all([.test(.action, [.exact("START_AUTHENTICATE")]), .test(.by, [.exact("usher")])]),
                    request: request, response: response)
            ]
            return settings
        }
        let grant = DirectResponse(
            status: 200, headers: [.init("Content-Type", "application/json")], body: Array("{\"tokenId\":\"B\"}".utf8))
        // a request-phase answer never reaches AM
        let local = Conversation(rule([Respond(grant)], []))
        local.client(Up.get)
        local.connects()
        local.origin(Up.refused())
        #expect(local.driver.dials == 1 && local.originGot().contains("_txid=t-1"))
        local.origin(ok)
        #expect(local.clientGot() == okForClient)
        // a response-phase answer takes the place of AM's
        let replaced = asked(rule([], [Respond(grant)]))
        replaced.origin("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
        replaced.origin(ok)
        #expect(replaced.clientGot() == okForClient)
        let aborted = asked(rule([], [Abort("no")]))
        aborted.origin(Up.success)
        #expect(aborted.clientGot() == Up.original() && aborted.noted("aborted the response to the call"))
    }

    // MARK: the client goes away

    @Test func nothingIsLeftOfAClientThatWentAway() {
        for stage in 0..<4 {
            for lost in [false, true] {
                let talk = Conversation(stepUpSettings())
                talk.client(Up.get)
                talk.connects()
                talk.origin(Up.refused())
                if stage > 0 { talk.connects() }
                if stage == 2 { talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{") }
                if stage == 3 {
                    talk.origin(
                        Up.json(
                            "{\"authId\":\"a\",\"callbacks\":[{\"type\":\"PollingWaitCallback\",\"output\":[{\"name\":\"waitTime\",\"value\":\"2000\"}]}]}"
                        ))
                }
                if lost { talk.driver.clientIsLost() } else { talk.driver.clientEnds() }
                #expect(talk.driver.isOver && talk.driver.origin == nil && talk.driver.dialing == nil)
                #expect(talk.driver.records.count == 1 && talk.clientGot() == "", "stage \(stage)")
                talk.driver.waits(100_000)
                #expect(talk.driver.records.count == 1)
            }
        }
    }

    // MARK: the replay

    @Test func aReplayThatCannotBeSent() {
        for request in [Up.get, Up.post] {
            let talk = asked(
                request: request, refused: Up.refused().replacing("X-Odd", with: "Connection: close\r\nX-Odd"))
            talk.origin(Up.success)
            talk.driver.dialFails(.refused("Connection refused"))
            #expect(talk.clientGot() == Up.original() && talk.noted("the original response was delivered"))
            #expect(talk.driver.isIdle && talk.record.status == 401)
        }
    }

    @Test func aReplayWithoutAnAnswer() {
        // what may have happened twice over must not look as if it had not happened at all
        for (request, status) in [(Up.get, 401), (Up.post, 502)] {
            let talk = asked(
                request: request, refused: Up.refused().replacing("X-Odd", with: "Connection: close\r\nX-Odd"))
            talk.origin(Up.success)
            talk.connects()
            talk.driver.originEnds()
            #expect(talk.record.status == status && talk.driver.isIdle && talk.driver.records.count == 1)
            let slow = asked(stepUpSettings { $0.hold = 1000 }, request: request)
            slow.origin(Up.success)
            if slow.driver.dialing != nil { slow.connects() }
            slow.driver.waits(1000)
            #expect(slow.record.status == (status == 401 ? 401 : 504) && slow.driver.isIdle)
        }
    }

    @Test func theNameOfTheTransactionParameterIsKeptSecretToo() {
        let talk = asked(stepUpSettings { $0.presentToGateway = .query("Ticket") })
        talk.origin(Up.success)
        talk.origin(ok)
        let notes = talk.notes.joined(separator: "\n")
        #expect(notes.contains("Ticket=REDACTED") && !notes.contains("t-1"))
    }

    @Test func anUnreadableTransactionIsAskedForOnceMore() {
        let talk = asked()
        let unreadable = Up.json("{\"code\":401,\"detail\":{\"errorCode\":\"128\"}}", status: "401 Unauthorized")
        talk.origin(unreadable)
        talk.origin(Up.refused("{\"TransactionConditionAdvice\":[\"t-2\"]}"))
        talk.connects()
        talk.origin(Up.success)
        #expect(talk.originGot().contains("_txid=t-2"))
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.record.attempts == 3)
    }
}
