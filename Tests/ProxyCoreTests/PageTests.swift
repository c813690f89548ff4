import Interception
import Passwords
import ProxyCore
import Testing

@Suite("The pages of usher.proxy")
struct PageTests {
    private static let pages = OwnPages([
        "/": .init(type: "text/html", body: Array("<p>here".utf8)),
        "/ca.pem": .init(type: "application/x-pem-file", body: Array("pem".utf8), fileName: "usher-ca.pem"),
    ])

    private func talk(_ delivery: Delivery = .whole) -> Conversation {
        let talk = Conversation(delivery: delivery)
        talk.driver.adopt(Engine(Settings(), pages: Self.pages))
        return talk
    }

    private func get(_ url: String, _ method: String = "GET") -> String {
        "\(method) \(url) HTTP/1.1\r\nHost: usher.proxy\r\n\r\n"
    }

    @Test(arguments: Delivery.all)
    func aPageIsAnsweredHere(_ delivery: Delivery) {
        let talk = talk(delivery)
        for (url, body) in [
            ("http://usher.proxy/", "<p>here"), ("http://USHER.proxy", "<p>here"),
            ("http://usher.proxy/ca.pem?x", "pem"),
        ] {
            talk.client(get(url))
            let got = talk.clientGot()
            #expect(got.hasPrefix("HTTP/1.1 200 OK\r\n") && got.hasSuffix("\r\n\r\n" + body), "\(url)")
            #expect(got.contains("\r\nUsher-Flow: ") && got.contains("\r\nProxy-Status: usher; details="))
            #expect(talk.record.status == 200 && talk.record.responseBytes == UInt64(body.utf8.count))
        }
        #expect(talk.driver.dials == 0 && talk.driver.records.count == 3 && talk.driver.client == .open)
    }

    @Test func whatIsSavedHasAName() {
        let talk = talk()
        talk.client(get("http://usher.proxy/ca.pem"))
        #expect(talk.clientGot().contains("\r\nContent-Disposition: attachment; filename=\"usher-ca.pem\"\r\n"))
    }

    @Test func headHasNoBody() {
        let talk = talk()
        talk.client(get("http://usher.proxy/", "HEAD"))
        let got = talk.clientGot()
        #expect(got.contains("\r\nContent-Length: 7\r\n") && got.hasSuffix("\r\n\r\n"))
        #expect(talk.record.responseBytes == 0)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"])
    func nothingElseThanReading(_ method: String) {
        let talk = talk()
        talk.client(get("http://usher.proxy/", method))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 405 ") && got.contains("\r\nAllow: GET, HEAD\r\n"))
        #expect(talk.driver.dials == 0)
    }

    @Test(arguments: ["/nope", "/ca.pem/", "/../ca.pem", "//", "/%63a.pem"])
    func whatIsNotThere(_ path: String) {
        let talk = talk()
        talk.client(get("http://usher.proxy\(path)"))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 404 ") && talk.driver.dials == 0)
        #expect(talk.record.proxyError == "http_request_error")
    }

    @Test func aBodyEndsTheConnection() {
        let talk = talk()
        talk.client("GET http://usher.proxy/ HTTP/1.1\r\nHost: usher.proxy\r\nContent-Length: 3\r\n\r\nab")
        #expect(talk.clientGot().contains("\r\nConnection: close\r\n") && talk.driver.client == .finished)
    }

    @Test(arguments: Delivery.all)
    func insideATunnelToo(_ delivery: Delivery) {
        let talk = talk(delivery)
        talk.client("CONNECT usher.proxy:80 HTTP/1.1\r\nHost: usher.proxy:80\r\n\r\n")
        talk.client("GET /ca.pem HTTP/1.1\r\nHost: usher.proxy\r\n\r\n")
        #expect(talk.clientGot().hasSuffix("\r\n\r\npem"))
        // the tunnel leads nowhere else
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 421 ") && talk.driver.dials == 0)
        #expect(talk.driver.records.map(\.status) == [200, 200, 421])
    }

    @Test func notWithTLS() {
        let talk = talk()
        talk.client("CONNECT usher.proxy:443 HTTP/1.1\r\nHost: usher.proxy:443\r\n\r\n")
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 403 ") && talk.driver.dials == 0)
        #expect(talk.noted("without TLS"))
    }

    @Test(arguments: ["usher.proxy.test", "xusher.proxy", "usher-proxy", "usher_proxy", "192.168.1.1"])
    func othersGoOut(_ host: String) {
        let talk = talk()
        talk.client("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(talk.driver.dials == 1)
    }

    @Test func withoutPagesItIsAHostLikeAnyOther() {
        let talk = Conversation()
        talk.client(get("http://usher.proxy/"))
        #expect(talk.driver.dials == 1)
    }

    @Test func whoeverHasToShowAPasswordHasToHereToo() {
        var settings = Settings()
        settings.users = PasswordTable(htpasswd: "") { _, _ in }
        let talk = Conversation()
        talk.driver.adopt(Engine(settings, pages: Self.pages))
        talk.client(get("http://usher.proxy/"))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 407 "))
    }
}
