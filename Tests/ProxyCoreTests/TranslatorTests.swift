import Authorization
import ProxyCore
import Testing

/// Clients that step up by themselves, before resources that speak another form of advice.
@Suite("Translation of an advice")
struct TranslatorTests {
    typealias Up = SteppingUp

    private func settings(_ form: Advice.Source, advice: Advice.Forms = .standard) -> Settings {
        stepUpSettings { policy in
            policy.resources[0].translation = form
            policy.resources[0].advice = advice
        }
    }

    private func talk(
        _ form: Advice.Source, _ answer: String, advice: Advice.Forms = .standard, request: String = Up.get
    ) -> Conversation {
        let talk = Conversation(settings(form, advice: advice))
        talk.client(request)
        talk.connects()
        talk.origin(answer)
        return talk
    }

    private static let decision = Up.json(
        "{\"resource\":\"r\",\"actions\":{},\"attributes\":{},\"advices\":\(Up.transaction),\"ttl\":0}",
        status: "403 Forbidden")

    @Test func aChallengeAsADecision() {
        let talk = self.talk(.body, Up.refused())
        #expect(talk.originGot().contains("x-authenticate-response: header\r\n"))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && got.contains("X-Odd: kept\r\n"), "\(got)")
        #expect(got.contains("\"advices\":\(Up.transaction)") && !got.contains("SSOADVICE"))
        #expect(talk.driver.dials == 1 && talk.noted("acts on it by itself"))
    }

    @Test func aChallengeAsARedirect() {
        let talk = self.talk(.redirect, Up.refused())
        #expect(!talk.originGot().contains("x-authenticate-response"))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 307 Temporary Redirect\r\n"), "\(got)")
        #expect(got.contains("Location: http://am.test/am/?goto=http%3A%2F%2Fshop.test%2Fapi%2Fcart%3F_txid%3Dt-1&"))
    }

    @Test func aDecisionAsAChallenge() {
        let got = talk(.header, Self.decision, advice: .body).clientGot()
        #expect(got.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"), "\(got)")
        #expect(got.contains("SSOADVICE realm=\"/\",") && got.contains("am_uri=\"http://am.test/am/\""))
        #expect(got.contains("\r\nContent-Length: 0\r\n"))
        // a body that the resource does not say is one
        #expect(talk(.header, Self.decision).clientGot().hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
    }

    @Test func whatIsInThatFormStays() {
        #expect(talk(.header, Up.refused()).clientGot() == Up.original())
        #expect(talk(.header, ok).clientGot() == okForClient)
    }

    /// Named by the resource, AM would be another; by what is written it is the one.
    @Test func noOtherServer() {
        let got = talk(.body, Up.refused(am: "https://evil.test/am")).clientGot()
        #expect(got.contains("\"advices\"") && !got.contains("evil"))
        let location =
            "http://evil.test/am/?authIndexType=composite_advice&authIndexValue="
            + "PEFkdmljZXM-PEF0dHJpYnV0ZVZhbHVlUGFpcj48QXR0cmlidXRlIG5hbWU9IlRyYW5zYWN0aW9uQ29uZGl0aW9uQWR2aWNlIi8-PFZhbHVlPnQtNDcxMTwvVmFsdWU-PC9BdHRyaWJ1dGVWYWx1ZVBhaXI-PC9BZHZpY2VzPg"
        let redirect = "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
        #expect(talk(.body, redirect).clientGot().contains("Location: http://evil.test/"))
    }

    @Test func aTransactionGoesOnAsItIsExpected() {
        let request = Up.get.replacing("\(Up.session)\r\n", with: "\(Up.session)\r\nX-TxID: t-9\r\n")
        let first = talk(.body, ok, request: request)
        let got = first.originGot()
        #expect(got.hasPrefix("GET /api/cart?_txid=t-9 HTTP/1.1\r\n") && !got.contains("X-TxID"), "\(got)")
        let shown = talk(.header, ok, advice: .body, request: Up.get.replacing("cart", with: "cart?_txid=t-9&a=%20"))
        let sent = shown.originGot()
        #expect(sent.hasPrefix("GET /api/cart?a=%20 HTTP/1.1\r\n") && sent.contains("X-TxID: t-9\r\n"), "\(sent)")
        #expect(!first.notes.joined().contains("t-9") && !shown.notes.joined().contains("t-9"))
    }

    /// A body that is not kept goes on as it comes.
    @Test func withABody() {
        let request =
            "POST http://shop.test/api/pay HTTP/1.1\r\nHost: shop.test\r\nX-TxID: t-9\r\nContent-Length: 7\r\n\r\na=1&b=2"
        let got = talk(.body, ok, request: request).originGot()
        #expect(got.hasPrefix("POST /api/pay?_txid=t-9 HTTP/1.1\r\n") && got.hasSuffix("\r\n\r\na=1&b=2"), "\(got)")
    }

    /// The app asks AM by itself, and shows the transaction as it knows it.
    @Test func intoAQuestion() {
        var settings = self.settings(.header)
        settings.authorization[0].resources[0].url = "http://am.test/am/json/*"
        let question = "{\"resources\":[\"r\"]}"
        let talk = Conversation(settings)
        talk.client(
            "POST http://am.test/am/json/policies?_action=evaluate&_txid=t-9 HTTP/1.1\r\nHost: am.test\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(question.utf8.count)\r\n\r\n\(question)")
        talk.connects()
        let got = talk.originGot()
        #expect(got.hasPrefix("POST /am/json/policies?_action=evaluate HTTP/1.1\r\n"), "\(got)")
        #expect(got.hasSuffix("{\"resources\":[\"r\"],\"environment\":{\"TxId\":[\"t-9\"]}}"))
        talk.origin(Up.json("[{\"resource\":\"r\",\"actions\":{},\"attributes\":{},\"advices\":\(Up.transaction)}]"))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
    }

    // MARK: with enforcement

    private func handed(_ form: Advice.Source?, _ line: String, _ fields: String) -> Conversation {
        let talk = Enforced.talk(
            Enforced.settings({ $0.resources[0].translation = form }), Decisions(),
            "\(line)\r\nHost: shop.test\r\n\(Up.session)\r\n\(fields)\r\n")
        talk.connects()
        return talk
    }

    @Test func whereAMIsAsked() {
        for (form, fields, status) in [
            (nil, "x-authenticate-response: header\r\n", 401), (Advice.Source.header, "", 401), (.redirect, "", 307),
            (.body, "", 403),
        ] {
            let talk = handed(form, "GET http://shop.test/api/cart HTTP/1.1", fields)
            talk.origin(Enforced.decision("{}", advices: Up.transaction))
            let got = talk.clientGot()
            #expect(got.hasPrefix("HTTP/1.1 \(status) ") && got.contains("Proxy-Status: usher; "), "\(got)")
            #expect(talk.driver.dials == 1 && talk.driver.dialing == nil)
        }
    }

    /// The transaction is no part of the resource, and the request goes on as it came.
    @Test func theTransactionIsAskedWith() {
        for (line, fields) in [
            ("GET http://shop.test/api/cart?_txid=t-9 HTTP/1.1", "x-authenticate-response: header\r\n"),
            ("GET http://shop.test/api/cart HTTP/1.1", "x-authenticate-response: header\r\nX-TxID: t-9\r\n"),
        ] {
            let talk = handed(nil, line, fields)
            let question = talk.originGot()
            #expect(
                question.contains("[\"http://shop.test/api/cart\"]") && question.contains("\"TxId\":[\"t-9\"]"),
                "\(question)")
            talk.origin(Enforced.decision(ttl: Enforced.later))
            talk.connects()
            #expect(talk.originGot().hasPrefix(line.replacing("http://shop.test", with: "")))
            talk.origin(ok)
            #expect(talk.clientGot() == Enforced.okForClient)
        }
        // where Usher steps up, what an app shows says nothing
        let other = Enforced.talk(Up.get.replacing("cart", with: "cart?_txid=t-9"))
        other.connects()
        #expect(!other.originGot().contains("t-9"))
    }
}
