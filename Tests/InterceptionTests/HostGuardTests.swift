import HTTPCodec
import Testing

@testable import Interception

@Suite("Who gets what an interceptor sends along")
struct HostGuardTests {
    private func admits(_ condition: Condition, _ url: String) throws -> Bool {
        try HostGuard(condition).admits(RequestHead(method: "GET", url: url))
    }

    private static let host = Condition.test(.host, [.exact("db.test")])
    private static func scheme(_ name: String) -> Condition { .test(.scheme, [.exact(name)]) }
    private static func port(_ text: TextMatcher) -> Condition { .test(.port, [text]) }

    @Test(
        arguments: [
            (host, ["https://db.test/"]),
            (.all([host, scheme("http")]), ["http://db.test/"]),
            (.all([host, scheme("https")]), ["https://db.test/"]),
            (.all([host, port(.exact("5984"))]), ["https://db.test:5984/"]),
            (.all([host, scheme("http"), port(.exact("5984"))]), ["http://db.test:5984/"]),
            (.all([host, port(.glob("*"))]), ["https://db.test/", "https://db.test:5984/"]),
            (.any([.all([host, scheme("http")]), host]), ["https://db.test/", "http://db.test/"]),
            // what is ruled out names nothing
            (.all([host, .not(scheme("https"))]), []), (.all([host, .not(port(.exact("443")))]), []),
        ] as [(Condition, [String])])
    func schemeAndPort(_ condition: Condition, _ admitted: [String]) throws {
        for url in ["https://db.test/", "http://db.test/", "https://db.test:5984/", "http://db.test:5984/"] {
            #expect(try admits(condition, url) == admitted.contains(url), "\(url)")
        }
    }

    /// Where the request goes, and what the Host field says, both have to be named.
    @Test(arguments: [("db.test", "db.test", true), ("db.test", "evil.test", false), ("evil.test", "db.test", false)])
    func placeAndField(_ place: String, _ field: String, _ isAdmitted: Bool) throws {
        var head = try RequestHead(method: "GET", url: "https://\(place)/")
        head.fields.remove(named: "Host")
        head.fields.add("Host", field)
        #expect(HostGuard(Self.host).admits(head) == isAdmitted)
    }

    @Test func noTrace() throws {
        #expect(try !HostGuard(Self.host).admits(RequestHead(method: "TRACE", url: "https://db.test/")))
    }
}
