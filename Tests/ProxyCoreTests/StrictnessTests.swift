import Formats
import HTTPCodec
import Interception
import Testing

/// Every published way to have two programs read one message differently: refused with its own reason, or passed on so
/// that there is one reading. The same cases go through the built program in Tests/EndToEnd/test_strictness.py.
@Suite("Strictness")
struct StrictnessTests {
    typealias Case = StrictnessCorpus.Case

    @Test("The corpus is present, and has every reason to refuse a message")
    func corpus() {
        #expect(StrictnessCorpus.requests.count > 200 && StrictnessCorpus.responses.count > 90)
        let reasons = Set(StrictnessCorpus.requests.map { $0.text("refused") ?? "" })
        // a request has no status line; what follows is about messages that come in frames
        for code in HTTPFault.Code.allCases.prefix(while: { $0 != .upperCaseName }) where code != .badStatusLine {
            #expect(reasons.contains(code.rawValue), "\(code)")
        }
        for one in StrictnessCorpus.requests + StrictnessCorpus.responses {
            #expect(!(one.text("from") ?? "").isEmpty, "\(one.name) says where it comes from")
        }
    }

    @Test(arguments: StrictnessCorpus.requests.filter { $0.text("refused") != nil })
    func requestIsRefused(_ one: Case) throws {
        let reason = try #require(one.text("refused"))
        let status = try #require(one.value["status"]?.integer)
        if let code = HTTPFault.Code(rawValue: reason) { #expect(HTTPFault(code, at: 0).status == status) }
        for delivery in Delivery.all {
            let talk = Conversation(delivery: delivery)
            // behind a good one, so that nothing of that may show
            talk.exchange("HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n")
            _ = talk.clientGot()
            let before = talk.connection?.received.count ?? 0
            talk.client(one.bytes)
            let got = talk.clientGot()
            #expect(talk.record.status == status && talk.record.proxyError == "http_request_error", "\(delivery)")
            #expect(talk.noted(reason) && got.contains("Connection: close\r\n"), "\(delivery) \(talk.notes)")
            #expect(talk.driver.client == .finished && talk.driver.origin == nil && talk.driver.dialing == nil)
            // whatever follows is no request, and the origin saw none that is whole
            talk.client("\r\n\r\n" + get)
            #expect(talk.driver.records.count == 2 && talk.clientGot() == "")
            let seen = talk.connection?.received.dropFirst(before) ?? []
            if case .message(let whole, _)? = try? WireReader.next(seen, answering: nil) {
                Issue.record("the origin got \(whole.text), \(delivery)")
            }
        }
    }

    @Test(arguments: StrictnessCorpus.requests.filter { $0.value["forwarded"] != nil })
    func requestHasOneReading(_ one: Case) throws {
        let expected = try #require(one.value["forwarded"]?.items)
        for delivery in Delivery.all {
            let talk = Conversation(delivery: delivery)
            var seen: [ObjectIdentifier: Int] = [:]
            talk.client(one.bytes)
            for request in expected {
                if talk.driver.dialing != nil { talk.connects() }
                let connection = try #require(talk.driver.origin, "\(delivery): \(talk.notes)")
                let before = seen[ObjectIdentifier(connection), default: 0]
                let sent = connection.received.dropFirst(before)
                guard case .message(let message, let used) = try WireReader.next(sent, answering: nil) else {
                    Issue.record("incomplete: \(String(decoding: sent, as: UTF8.self)) \(delivery)")
                    return
                }
                seen[ObjectIdentifier(connection)] = before + used
                check(message, request)
                #expect(before + used == connection.received.count, "nothing behind it, \(delivery)")
                talk.origin(ok)
                if let reused = request["reused"] { #expect(talk.driver.releases.last == reused.isTrue) }
            }
            #expect(talk.driver.records.count == expected.count, "\(delivery)")
            #expect(talk.driver.dialing == nil && talk.driver.origin == nil)
        }
    }

    private func check(_ message: WireMessage, _ expected: JSONValue) {
        #expect(message.start == expected["line"]?.text)
        #expect(message.body == StrictnessCorpus.bytes(expected["body"]?.text ?? ""))
        for field in expected["with"]?.members ?? [] {
            // the reader gives every byte a character of its own
            let value = String(StrictnessCorpus.bytes(field.value.text ?? "").map { Character(Unicode.Scalar($0)) })
            #expect(message[field.name] == value, "\(field.name)")
        }
        for name in expected["without"]?.items ?? [] { #expect(message[name.text ?? ""] == nil, "\(name)") }
    }

    /// What one client's origin says must never reach another client.
    @Test(arguments: StrictnessCorpus.responses)
    func answerReachesNobodyElse(_ one: Case) throws {
        for delivery in Delivery.all {
            let pool = LinkPool()
            let talk = Conversation(pool: pool)
            talk.driver.splitter = Splitter(delivery)
            let method = one.text("method") ?? "GET"
            talk.client("\(method) http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
            talk.connects()
            talk.origin(one.bytes)
            if one.value["ends"] != nil || one.text("cut") == "incomplete" { talk.driver.originEnds() }
            if let reason = one.text("refused") {
                #expect(talk.record.status == 502 && talk.record.proxyError == "http_protocol_error", "\(delivery)")
                #expect(talk.noted(reason) && talk.driver.releases == [false], "\(delivery) \(talk.notes)")
                #expect(talk.driver.isIdle)
            } else if let reason = one.text("cut") {
                #expect(talk.driver.client == .reset && talk.driver.releases == [false], "\(delivery)")
                #expect(talk.noted(reason) || talk.record.proxyError?.contains(reason) == true, "\(talk.notes)")
            } else {
                try checkDelivered(talk, one, method)
                // in pieces the connection may have gone back before the rest comes: then the pool notices
                if case .whole = delivery { #expect(talk.driver.releases == [one.value["reused"]?.isTrue]) }
            }
            if one.value["ends"] == nil { #expect(!String(decoding: talk.driver.sent, as: UTF8.self).contains("evil")) }

            let other = Conversation(pool: pool)
            other.client(get)
            if other.driver.dialing != nil { other.connects() }
            other.origin(ok)
            #expect(other.clientGot() == okForClient, "\(delivery)")
        }
    }

    private func checkDelivered(_ talk: Conversation, _ one: Case, _ method: String) throws {
        var rest = talk.driver.sent[...]
        while true {
            let step = try WireReader.next(rest, answering: method, ended: talk.driver.client == .finished)
            guard case .message(let message, let used) = step else {
                Issue.record("incomplete: \(String(decoding: rest, as: UTF8.self))")
                return
            }
            rest = rest.dropFirst(used)
            if message.status < 200 { continue }
            #expect(message.status == one.value["status"]?.integer)
            #expect(message.body == StrictnessCorpus.bytes(one.text("body") ?? ""))
            for name in one.value["without"]?.items ?? [] { #expect(message[name.text ?? ""] == nil, "\(name)") }
            #expect(rest.isEmpty, "one answer and no more")
            return
        }
    }
}
