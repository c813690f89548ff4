import Addresses
import Interception
import ProxyCore
import Testing

@Suite("Connections from load balancers")
struct PrefaceTests {
    private let header = "PROXY TCP4 203.0.113.9 192.0.2.2 40000 3128\r\n"

    private func talk(_ delivery: Delivery = .whole, allow: [String] = ["203.0.113.0/24"]) -> Conversation {
        let policy = ClientPolicy(allow: allow.compactMap { AddressBlock($0).map { .block($0) } })
        return Conversation(
            delivery: delivery, source: ClientSource(address: IPAddress("192.0.2.1"), balancer: policy))
    }

    @Test(arguments: Delivery.all)
    func theClientIsWhomTheHeaderNames(_ delivery: Delivery) {
        let talk = talk(delivery)
        talk.client(header + get)
        talk.connects()
        #expect(talk.originGot() == getForOrigin)
        talk.origin(ok)
        #expect(talk.driver.sent.starts(with: "HTTP/1.1 200 ".utf8) && talk.record.client == "203.0.113.9:40000")
    }

    @Test(arguments: Delivery.all)
    func whoIsNotAllowedIsClosed(_ delivery: Delivery) {
        let talk = talk(delivery, allow: ["192.0.2.1"])
        talk.client(header + get)
        #expect(talk.driver.client == .closed && talk.driver.sent == [] && talk.driver.dials == 0)
        #expect(talk.driver.records.map(\.client) == ["203.0.113.9:40000"] && talk.noted("clients.allow"))
    }

    @Test func theBalancerMaySpeakForItself() {
        let allowed = talk(allow: ["192.0.2.1"])
        allowed.client("PROXY UNKNOWN\r\n" + get)
        #expect(allowed.driver.dials == 1)
        let other = talk()
        other.client("PROXY UNKNOWN\r\n" + get)
        #expect(other.driver.client == .closed)
    }

    @Test(arguments: [get, "PROXY TCP4 a b 1 2\r\n", "\r\n\r\n", "\u{16}\u{3}\u{1}"])
    func withoutAHeaderItIsClosed(_ bytes: String) {
        let talk = talk()
        talk.client(bytes)
        if bytes == "\r\n\r\n" { talk.client("GET") }
        #expect(talk.driver.client == .closed && talk.driver.sent == [])
        #expect(talk.noted("does not begin with a header of the PROXY protocol"))
    }

    @Test func theHeaderHasItsTime() {
        let talk = talk()
        talk.client("PROXY TCP4 ")
        talk.driver.waits(Timeouts().header - 1)
        #expect(talk.driver.client == .open)
        talk.driver.waits(1)
        #expect(talk.driver.client == .closed && talk.noted("timeouts.header"))
        // afterwards the connection is one like any other
        let idle = self.talk()
        idle.client(header)
        idle.driver.waits(Timeouts().idle - 1)
        #expect(idle.driver.client == .open && idle.driver.isIdle)
    }

    @Test func aLookWhetherSomebodyListensIsNotLogged() {
        let talk = talk()
        talk.driver.clientEnds()
        #expect(talk.driver.client == .closed && talk.driver.records.isEmpty)
    }

    @Test func othersMustNotHaveIt() {
        let talk = Conversation(source: ClientSource(address: IPAddress("192.0.2.1")))
        talk.client(header + get)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 505 ") && talk.driver.dials == 0)
        let binary = Conversation(source: ClientSource(address: IPAddress("192.0.2.1")))
        binary.client("\r\n\r\n\0\r\nQUIT\n\u{21}\u{11}\0\0" + get)
        #expect(binary.clientGot().hasPrefix("HTTP/1.1 400 ") && binary.driver.dials == 0)
    }
}

@Suite("Fields about the client")
struct ForwardedTests {
    private func fields(
        _ kind: ForwardedField, _ lines: String = "", from client: String = "192.0.2.1",
        by local: String? = "198.51.100.1",
        host: String = "a.test"
    ) -> String {
        let talk = Conversation(
            settings { $0.disclosure.forwarded = kind },
            source: ClientSource(address: IPAddress(client), local: local.flatMap { IPAddress($0) }))
        talk.client("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\(lines)\r\n")
        talk.connects()
        return talk.originGot().split(separator: "\r\n").filter { $0.lowercased().contains("forwarded") }
            .joined(separator: "\n")
    }

    @Test func nothingUnlessAskedFor() {
        #expect(fields(.none) == "")
        #expect(fields(.none, "Forwarded: for=x\r\n") == "Forwarded: for=x")
    }

    @Test func forwarded() {
        #expect(fields(.forwarded) == "Forwarded: for=192.0.2.1;by=198.51.100.1;proto=http;host=a.test")
        #expect(
            fields(.forwarded, from: "2001:db8::1", by: "::1", host: "[2001:db8::2]:81")
                == #"Forwarded: for="[2001:db8::1]";by="[::1]";proto=http;host="[2001:db8::2]:81""#)
        #expect(
            fields(.forwarded, from: "::ffff:192.0.2.1", by: nil) == "Forwarded: for=192.0.2.1;proto=http;host=a.test")
        #expect(
            fields(.forwarded, "Forwarded: for=a, for=b\r\nX-Forwarded-For: x\r\nforwarded: for=c\r\n", by: nil)
                == "X-Forwarded-For: x\nForwarded: for=a, for=b, for=c, for=192.0.2.1;proto=http;host=a.test")
    }

    @Test func xForwardedFor() {
        #expect(
            fields(.xForwardedFor, from: "2001:db8::1")
                == "X-Forwarded-For: 2001:db8::1\nX-Forwarded-Proto: http\nX-Forwarded-Host: a.test")
        #expect(
            fields(.xForwardedFor, "X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Proto: https\r\n", host: "a.test:81")
                == "X-Forwarded-For: 10.0.0.1, 192.0.2.1\nX-Forwarded-Proto: https, http\nX-Forwarded-Host: a.test:81")
    }

    @Test func aClientCannotHaveItDropped() {
        #expect(
            fields(.xForwardedFor, "Connection: x-forwarded-for, forwarded\r\n").hasPrefix("X-Forwarded-For: 192.0.2.1")
        )
    }

    @Test func whatAnInterceptorChangedIsNotWhatTheClientAskedFor() {
        let talk = Conversation(
            settings {
                $0.disclosure.forwarded = .forwarded
                $0.rules = [.init(name: "elsewhere", request: [SetHost("b.test")])]
            }, source: ClientSource(address: IPAddress("192.0.2.1")))
        talk.client(get)
        talk.connects()
        #expect(talk.originGot().contains("Forwarded: for=192.0.2.1;proto=http;host=a.test\r\n"))
        #expect(talk.connection?.origin.host == "b.test")
    }

    @Test func everyAttemptSaysItOnce() {
        let talk = Conversation(
            settings { $0.disclosure.forwarded = .xForwardedFor }, source: ClientSource(address: IPAddress("192.0.2.1"))
        )
        talk.exchange(get, ok)
        _ = talk.originGot()
        talk.client(get)
        #expect(talk.originGot().ranges(of: "192.0.2.1").count == 1)
        // the pooled connection had gone stale
        talk.driver.originEnds()
        talk.connects()
        #expect(talk.originGot().ranges(of: "192.0.2.1").count == 1)
    }

    @Test func callsOfUshersOwnSayNothing() {
        var own = stepUpSettings()
        own.disclosure.forwarded = .forwarded
        let talk = Conversation(own, source: ClientSource(address: IPAddress("192.0.2.1")))
        talk.client("GET http://shop.test/api/x HTTP/1.1\r\nHost: shop.test\r\nCookie: iPlanetDirectoryPro=s\r\n\r\n")
        talk.connects()
        #expect(talk.originGot().contains("Forwarded: for=192.0.2.1;"))
        talk.origin(
            "HTTP/1.1 302 Found\r\nLocation: http://am.test/am/UI/Login?realm=%2F&authIndexType=composite_advice&authIndexValue=%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute%20name%3D%22AuthLevelConditionAdvice%22%2F%3E%3CValue%3E3%3C%2FValue%3E%3C%2FAttributeValuePair%3E%3C%2FAdvices%3E\r\nContent-Length: 0\r\n\r\n"
        )
        #expect(talk.driver.dialing?.host == "am.test")
        talk.connects()
        let call = talk.originGot()
        #expect(call.hasPrefix("POST /am/json/") && !call.lowercased().contains("forwarded"))
    }
}

@Suite("Ports of CONNECT")
struct ConnectPortTests {
    private func connect(_ port: Int, _ ports: [UInt16]?) -> Conversation {
        let talk = Conversation(settings { $0.routes.connectPorts = ports })
        talk.client("CONNECT a.test:\(port) HTTP/1.1\r\nHost: a.test:\(port)\r\n\r\n")
        return talk
    }

    @Test func onlyThoseThatAreNamed() {
        #expect(connect(443, [443, 8443]).driver.dials == 1 && connect(8443, [443, 8443]).driver.dials == 1)
        #expect(connect(22, nil).driver.dials == 1)
        let talk = connect(22, [443, 8443])
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 ") && got.contains("Proxy-Status: usher; error=http_request_denied;"))
        #expect(got.contains("permits CONNECT to 443, 8443 alone; add 22 to it"))
        #expect(talk.driver.dials == 0 && talk.driver.client == .finished && talk.record.status == 403)
    }

    @Test func plainRequestsGoAnywhere() {
        let talk = Conversation(settings { $0.routes.connectPorts = [443] })
        talk.client("GET http://a.test:8080/ HTTP/1.1\r\nHost: a.test:8080\r\n\r\n")
        #expect(talk.driver.dials == 1)
    }
}
