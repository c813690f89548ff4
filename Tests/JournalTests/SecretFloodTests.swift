import Formats
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
        "What takes a piece at a time takes no longer for there being many",
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
}
