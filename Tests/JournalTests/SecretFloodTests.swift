import Journal
import Testing

/// Texts that are made to take long, or to end the process.
struct SecretFloodTests {
    private static let size = 256 << 10

    private static func repeated(_ text: String, _ count: Int = size) -> String {
        String(repeating: text, count: count / text.utf8.count)
    }

    private static let nested = repeated("[", 50) + repeated("]", 50)
    private static let deep: String = "{\"code\":\"1\",\"x\":\(nested)}"
    private static let longName: String =
        "{\"code\":\"1\",\"\(repeated("n", 100_000))\":{\"callbacks\":[{\"type\":\"T\",\"output\":[\(repeated("\"v\",", 100_000))\"v\"]}]}}"

    /// JSON Web Tokens begin alike.
    private static let tokens: String = (0..<4000).map { number in
        "eyJhbGciOiJSUzI1NiJ9.\(String(repeating: "e", count: number % 50))\(number).c2ln"
    }.joined(separator: " ")

    private static let floods: [(type: String, text: String)] = [
        ("application/x-www-form-urlencoded", "code=1&x=1\(repeated(";a=b"))"),
        ("application/x-www-form-urlencoded", "x=\(repeated("%2525"))&code=1"),
        ("text/plain", "code=1 \(repeated("@"))"), ("text/plain", "code=1 \(repeated("//a"))"),
        ("text/html", "\(repeated("<a b=")) token=x"), ("text/html", "\(repeated("<a/b=")) token=x"),
        // a tag in a parameter of a URL in a tag, and so on
        ("text/html", "\(repeated("<a/b=/?x="))token=x"), ("text/html", "\(repeated("<a/b=/"))token=x"),
        ("text/html", "\(repeated("<a b=c "))'token=x"), ("text/html", "token=x \(repeated("<a b=<a x='"))"),
        ("text/html", "\(repeated("<a b='<c d=\""))code"),
        ("text/html", "\(repeated("<a token=\""))code"), ("text/html", repeated("<password>")),
        ("text/plain", repeated("password: ")), ("text/plain", repeated("password[")),
        ("text/plain", repeated("\"password\":[")), ("text/plain", repeated("password=\\\"")),
        ("multipart/form-data", repeated("Content-Disposition: form-data; name=\"password\"\r\n")),
        ("text/html", repeated("\(repeated("<a/b=", 60 << 10)) !>")),
        ("text/plain", "token=1 \(tokens)"), ("text/html", repeated("<password><!-- ")),
        ("application/json", deep), ("application/json", longName),
    ]

    @Test(
        "The search is not quadratic in the number of pieces",
        arguments: floods)
    func takesNoLonger(_ type: String, _ text: String) throws {
        var store = JournalStore(JournalStore.Settings(memory: 8 << 20, bodies: 1 << 20)) { ("note", "\($0)") }
        var batch = FlowBatch()
        var packer = batch.begin([])
        packer.set(.request, "Content-Type: \(type)\r\n")
        packer.set(.requestBody, text)
        batch.end(packer)
        let time = ContinuousClock().measure { store.take(batch, offset: 0) }
        #expect(store.ring.count == 1)
        // of an optimised build less than a hundredth of that
        #expect(time < .seconds(10))
    }

    private static func taken(
        _ type: String, _ bodies: [String], limit: Int = size
    ) throws -> (flows: [PackedFlow], steps: Int) {
        var store = JournalStore(JournalStore.Settings(memory: 64 << 20, bodies: limit)) { ("note", "\($0)") }
        var batch = FlowBatch()
        for body in bodies {
            var packer = batch.begin([])
            packer.set(.requestBytes, body.utf8.count)
            packer.set(.request, "Content-Type: \(type)\r\n")
            packer.set(.requestBody, body)
            batch.end(packer)
        }
        let flows = store.take(batch, offset: 0)
        return (flows, store.steps)
    }

    /// A secret of a client's own that is as long as those that are looked for, and texts that begin with it at every word.
    private static let long = "aaaaaaaa-" + repeated("aaaaaaaa-", (16 << 10) - 16) + "z1"

    private static let hostile: [(type: String, text: String)] = [
        ("text/plain", "code=\(long)&x=1 " + repeated("aaaaaaaa-", 100 << 10).replacing("-a", with: "- a")),
        ("text/plain", "token=\(long.replacing("-", with: "."))\n" + repeated("aaaaaaaa.", 200 << 10)),
        ("text/plain", "Content-Disposition: form-data; name=x\n" + repeated("password ", 200 << 10)),
        (
            "application/json",
            "{\"code\":\"x\",\"a\":\(repeated("[", 60) + repeated("1,", 200 << 10) + "1" + repeated("]", 60))}"
        ),
        ("application/x-www-form-urlencoded", (0..<12_000).map { "code=abcdefghijkl\($0)" }.joined(separator: "&")),
        ("text/html", repeated("<a b=<a x='", 200 << 10) + "token=x"),
    ]

    @Test("Any text takes a bounded number of steps; one that needs more is dropped", arguments: hostile)
    func isBounded(_ type: String, _ text: String) throws {
        let (flows, steps) = try Self.taken(type, [text])
        // each part of a flow has its own, and a step more ends it
        #expect(steps < 3 * 12 * Self.size, "\(steps)")
        let flow = try #require(flows.first)
        #expect(flow.flags.contains(.unread) == flow.isEmpty(.requestBody))
        #expect(flow.flags.contains(.requestBodyCut) || !flow.isEmpty(.requestBody))
    }

    @Test("Only the part beyond the limit is dropped, and the next flow is searched as usual")
    func bodyAlone() throws {
        let other = "{\"password\":\"hunter2\"}"
        let (flows, _) = try Self.taken(Self.hostile[2].type, [Self.hostile[2].text, other])
        #expect(flows[0].flags.isSuperset(of: [.unread, .requestBodyCut]) && flows[0].isEmpty(.requestBody))
        #expect(flows[0].text(.request) == "Content-Type: text/plain\r\n")
        #expect(FlowMessage(flows[0], .request)?.isUnread == true)
        #expect(!flows[1].flags.contains(.unread) && flows[1].text(.requestBody) == "{\"password\":\"password#1\"}")
        #expect(FlowMessage(flows[1], .request)?.isUnread == false)
    }

    @Test("Ordinary texts take a few steps for each byte")
    func usual() throws {
        let item =
            "{\"id\":12,\"name\":\"an item of a list\",\"state\":{\"code\":3,\"value\":\"open\"},\"token\":\"t\"}"
        let json =
            "{\"items\":[" + Array(repeating: item, count: 200_000 / item.utf8.count).joined(separator: ",") + "]}"
        let page = Self.repeated(
            "<p class=\"token\">the code, and the state of it: <a href=\"/p?a=1&amp;b=2\">x</a></p>", 200_000)
        for (type, text) in [("application/json", json), ("text/html", page + "token=x")] {
            let (flows, steps) = try Self.taken(type, [text])
            #expect(flows[0].flags.isDisjoint(with: [.unread, .requestBodyCut]))
            #expect(steps < 6 * text.utf8.count, "\(steps) of \(text.utf8.count)")
        }
    }
}
