import Addresses
import Formats
import Interception
import Passwords
import ProxyCore
import Testing

@Suite("Passwords of clients")
struct PasswordTests {
    private static let hash = "$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"

    static let asking = settings {
        $0.users = PasswordTable(htpasswd: "alice:\(hash)\n") { line, _ in Issue.record("line \(line)") }
    }
    private let challenge = "Proxy-Authenticate: Basic realm=\"usher\", charset=\"UTF-8\"\r\n"
    private let from = ClientSource(address: IPAddress("192.0.2.1"))

    private func get(_ credentials: String?, fields: String = "") -> String {
        let line = credentials.map { "Proxy-Authorization: Basic \(Base64.encode($0.utf8))\r\n" } ?? ""
        return "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\(line)\(fields)\r\n"
    }

    private func talk(_ delivery: Delivery = .whole) -> Conversation {
        Conversation(Self.asking, delivery: delivery, source: from)
    }

    @Test(arguments: Delivery.all)
    func theRightOneGoesThrough(_ delivery: Delivery) throws {
        let talk = talk(delivery)
        talk.client(get("alice:wonder:land"))
        let check = try #require(talk.driver.checks.first)
        #expect(check.user == "alice" && check.password == Array("wonder:land".utf8))
        #expect(check.hash == Self.hash && !check.isDecoy && check.client == IPAddress("192.0.2.1"))
        #expect(talk.driver.dials == 0 && talk.clientGot() == "")
        talk.driver.checked(.right)
        talk.connects()
        #expect(talk.originGot() == getForOrigin, "the password stays here")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        #expect(talk.record.user == "alice")
        // every request shows its own
        talk.client(get("alice:other"))
        talk.driver.checked(.wrong)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 407 ") && talk.record.user == nil)
        #expect(talk.noted("alice") && !talk.noted("other") && talk.driver.client == .open)
    }

    @Test(arguments: Delivery.all)
    func withoutOneItIsAskedFor(_ delivery: Delivery) {
        let talk = talk(delivery)
        talk.client(get(nil) + get(nil))
        let got = talk.clientGot()
        #expect(got.ranges(of: "HTTP/1.1 407 ").count == 2 && got.contains(challenge))
        #expect(
            got.contains("Proxy-Status: usher; error=http_request_denied;") && got.contains("http://USER:PASSWORD@"))
        #expect(talk.driver.client == .open && talk.driver.checks.isEmpty && talk.driver.dials == 0)
        #expect(talk.driver.records.map(\.status) == [407, 407])
    }

    @Test(arguments: [
        "Bearer abc", "Basic", "Basic a b", "Basic %%%", "Basic YWxpY2U=", "Basic /zp4", "Basic YTpiAGM=",
        "Basic YTpiCg==", "Digest username=\"alice\"",
    ])
    func whatIsNoPasswordIsNotChecked(_ value: String) {
        let talk = talk()
        talk.client(get(nil, fields: "Proxy-Authorization: \(value)\r\n"))
        #expect(talk.driver.checks.isEmpty && talk.clientGot().contains(challenge))
    }

    @Test func whatIsTooLongForAPasswordIsNotChecked() {
        for (count, checks) in [(506, 1), (507, 0)] {
            let talk = talk()
            talk.client(get("alice:" + String(repeating: "x", count: count)))
            #expect(talk.driver.checks.count == checks)
        }
    }

    @Test func twoAreNone() {
        let talk = talk()
        talk.client(get("alice:wonder:land", fields: "Proxy-Authorization: Basic YTpi\r\n"))
        #expect(talk.driver.checks.isEmpty && talk.clientGot().contains(challenge))
    }

    @Test func theSchemeHasNoCase() {
        let talk = talk()
        talk.client(get(nil, fields: "Proxy-Authorization: bASIC  YTpi\r\n"))
        #expect(talk.driver.checks.map(\.user) == ["a"])
    }

    @Test func whoDoesNotExistIsCheckedAsLong() throws {
        let talk = talk()
        talk.client(get("mallory:x"))
        let check = try #require(talk.driver.checks.first)
        #expect(
            check.isDecoy && check.hash != Self.hash && check.hash.hasPrefix("$2y$05$") && check.hash.utf8.count == 60)
        talk.driver.checked(.wrong)
        #expect(talk.clientGot().contains("the user name or the password is wrong"))
    }

    @Test(arguments: Delivery.all)
    func bodiesAndLaterRequestsWait(_ delivery: Delivery) {
        let talk = talk(delivery)
        let post = get("alice:a", fields: "Content-Length: 5\r\n").replacing("GET", with: "POST")
        talk.client(post + "hello" + get("alice:b"))
        #expect(talk.driver.checks.count == 1)
        talk.driver.checked(.right)
        talk.connects()
        talk.origin(ok)
        #expect(talk.originGot().hasSuffix("hello") && talk.clientGot() == okForClient)
        #expect(talk.driver.checks.map(\.password) == [Array("b".utf8)])
        talk.driver.checked(.right)
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.driver.records.count == 2)
    }

    @Test func aBodyThatNobodyTakesEndsTheConnection() {
        let talk = talk()
        talk.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhel")
        #expect(talk.clientGot().contains("Connection: close\r\n") && talk.driver.client == .finished)
    }

    @Test(arguments: Delivery.all)
    func connectShowsOneForAllThatIsInside(_ delivery: Delivery) {
        let talk = talk(delivery)
        let connect = "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n"
        talk.client(connect + "\r\n")
        #expect(talk.clientGot().contains(challenge) && talk.driver.client == .open)
        talk.client(connect + "Proxy-Authorization: Basic YWxpY2U6eA==\r\n\r\n")
        talk.driver.checked(.right)
        talk.connects()
        #expect(talk.clientGot() == "HTTP/1.1 200 Connection Established\r\n\r\n")
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.driver.checks.isEmpty && talk.record.user == "alice")
    }

    @Test func tooManyWrongOnes() {
        let talk = talk()
        talk.client(get("alice:x"))
        talk.driver.checked(.tooMany(wait: 4_001))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 429 ") && got.contains("Retry-After: 5\r\n"))
        talk.client(get("alice:x"))
        talk.driver.checked(.busy)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 ") && talk.driver.client == .open)
    }

    @Test func aCheckThatTakesTooLong() {
        let talk = talk()
        talk.client(get("alice:x"))
        talk.driver.waits(9_999)
        #expect(talk.clientGot() == "")
        talk.driver.waits(1)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 "))
        // its answer is of no use to the next request
        talk.client(get("alice:y"))
        talk.driver.checked(.right)
        #expect(talk.driver.dials == 0)
        talk.driver.checked(.right)
        #expect(talk.driver.dials == 1)
    }

    @Test func aClientThatClosedItsSideStillGetsItsAnswer() {
        let talk = talk()
        talk.client(get("alice:x"))
        talk.driver.clientEnds()
        talk.driver.checked(.right)
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot().hasSuffix("ok") && talk.driver.client == .closed)
    }

    @Test func aBodyThatWillNotComeIsNotWaitedFor() {
        let talk = talk()
        talk.client(get("alice:a", fields: "Content-Length: 5\r\n").replacing("GET", with: "POST"))
        talk.driver.clientEnds()
        talk.driver.checked(.right)
        talk.connects()
        talk.driver.waits(1)
        #expect(talk.driver.isOver || talk.originGot().hasSuffix("\r\n\r\n"))
        talk.driver.waits(60_000)
        #expect(talk.driver.isOver)
    }

    @Test func malformedRequestsAreRefusedWithoutAPassword() {
        let talk = talk()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 400 "))
    }

    @Test func aTraceShowsNoPassword() {
        let talk = talk()
        talk.client(get("alice:wonder:land", fields: "Max-Forwards: 0\r\n").replacing("GET", with: "TRACE"))
        talk.driver.checked(.right)
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 200 ") && !got.lowercased().contains("proxy-authorization"))
    }

    @Test func nothingIsCheckedUnlessAskedFor() {
        let talk = Conversation()
        talk.client(get("alice:x"))
        talk.connects()
        #expect(talk.driver.checks.isEmpty && talk.originGot() == getForOrigin)
    }
}

@Suite("htpasswd")
struct PasswordTableTests {
    private func read(_ text: String) -> (PasswordTable, [String]) {
        var faults: [String] = []
        let table = PasswordTable(htpasswd: text) { faults.append("\($0) \($1)") }
        return (table, faults)
    }

    private let body = "abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"

    @Test func readsWhatTheProgramWrites() {
        let (table, faults) = read("# made by hand\n\na:$2y$05$\(body)\nb c:$2b$10$\(body)\r\né:$2a$12$\(body)")
        #expect(faults == [] && table.count == 3 && table.lowestCost == 5)
    }

    @Test(arguments: [
        ("a", "1 malformed"), (":$2y$05$", "1 malformed"), ("\n a: ", #"2 scheme("plain text or crypt")"#),
        ("a:$apr1$x$y", #"1 scheme("MD5 of Apache")"#), ("a:{SHA}x", #"1 scheme("SHA-1")"#),
        ("a:$1$x$y", #"1 scheme("MD5")"#), ("a:hunter2", #"1 scheme("plain text or crypt")"#),
        ("a:$6$x$y", #"1 scheme("SHA-512")"#), ("a:$2y$05$short", #"1 scheme("bcrypt, but damaged")"#),
        ("a:$2x$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y", #"1 scheme("bcrypt, but damaged")"#),
        ("a:$2y$03$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y", #"1 scheme("bcrypt, but damaged")"#),
        ("a:$2y$16$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y", "1 tooCostly(16)"),
        ("a:$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB0:y", #"1 scheme("bcrypt, but damaged")"#),
    ])
    func takesNothingElse(_ text: String, _ fault: String) {
        let (table, faults) = read(text)
        #expect(faults == [fault] && table.count == 0 && table.lowestCost == nil)
    }

    @Test func aUserStandsOnce() {
        let (table, faults) = read("a:$2y$05$\(body)\na:$2y$06$\(body)")
        #expect(faults == ["2 repeated(line: 1)"] && table.count == 1 && table.lowestCost == 5)
    }
}
