import Formats
import Testing

@testable import Interception

/// Conditions that never hold, as far as that is seen without trying every request.
struct ContradictionTests {
    private static let amount = JSONPointer("/amount").map(Condition.Key.json) ?? .form("amount")
    private static let get = Condition.test(.method, [.exact("GET")])
    private static let post = Condition.test(.method, [.exact("POST")])
    private static let anyPath = Condition.test(.path, [.glob("*")])

    @Test(arguments: [
        (Condition.all([get, post]), Condition.Contradiction.values(of: "method")),
        (.all([get, .not(get)]), .values(of: "method")),
        (.all([get, .any([post, .test(.method, [.exact("PUT")])])]), .values(of: "method")),
        (.all([.test(.path, [.exact("/a")]), .test(.path, [.glob("/b*")])]), .values(of: "path")),
        (.all([.test(.path, [.exact("/a"), .exact("/b")]), .not(.test(.path, [.glob("/*")]))]), .values(of: "path")),
        (.all([.test(.host, [.exact("A.test")]), .not(.test(.host, [.exact("a.TEST")]))]), .values(of: "host")),
        (.all([.test(.status, [.exact("401")]), .test(.status, [.range(500...599)])]), .values(of: "status")),
        (
            .all([.test(.header("X"), [.exact("1")]), .not(.test(.header("X"), [.glob("*")]))]),
            .values(of: "header X")
        ),
        (.not(.any([anyPath, .not(anyPath)])), .values(of: "path")),
        (.all([.test(.error, [.exact("tls")]), .test(.status, [.range(500...599)])]), .phases),
        (.all([.test(.error, [.exact("tls")]), .not(.test(.status, [.range(500...599)]))]), .phases),
        (.not(.always), .nothing),
    ])
    func found(_ condition: Condition, _ contradiction: Condition.Contradiction) {
        #expect(condition.contradiction == contradiction)
    }

    @Test(arguments: [
        Condition.always, get, .not(get), .any([get, post]), .all([get, .not(post)]),
        .all([get, .any([post, .test(.path, [.exact("/a")])])]),
        .all([.test(.path, [.exact("/a"), .exact("/b")]), .test(.path, [.glob("/b*")])]),
        .all([.test(.path, [.glob("/a*")]), .test(.path, [.glob("*b")])]),
        .all([.test(.header("X"), [.exact("1")]), .test(.header("X"), [.exact("2")])]),
        .all([.test(amount, [.exact("1")]), .test(amount, [.exact("2")])]),
        .all([.test(.error, [.exact("tls")]), .test(.error, [.exact("timeout")])]),
        .all([get, .test(.method, [])]), .any([]),
        .all([.not(.test(.contentType, [.glob("*")])), .not(.test(.contentType, [.exact("text/html")]))]),
    ])
    func notFound(_ condition: Condition) { #expect(condition.contradiction == nil) }

    @Test func whatAlwaysHolds() {
        #expect(Condition.always.isAlways && Condition.all([]).isAlways && Condition.any([Self.get, .always]).isAlways)
        #expect(!Self.get.isAlways && !Condition.any([Self.get, Self.post]).isAlways)
    }
}
