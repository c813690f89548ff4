import Interception
import Testing

struct GlobTests {
    @Test(arguments: [
        ("*", ""), ("*", "anything/at/all"), ("a*c", "ac"), ("a*c", "a/b/c"), ("*.example.com", "a.example.com"),
        ("https://h/api/*", "https://h/api/a/b?c=d"), ("a*b*c", "aXbXbXc"), ("", ""), ("**", "x"), ("?", "?"),
        ("*ab", "aab"), ("[a]", "[a]"),
    ])
    func fits(pattern: String, text: String) { #expect(Glob.matches(pattern, text)) }

    @Test(arguments: [
        ("", "x"), ("a*c", "acd"), ("*.example.com", "example.com"), ("a*b*c", "acb"), ("abc", "ABC"), ("?", "x"),
        ("a*", "ba"), ("*ab", "aba"),
    ])
    func doesNotFit(pattern: String, text: String) { #expect(!Glob.matches(pattern, text)) }

    @Test func letterCaseMayBeIgnored() {
        #expect(Glob.matches("*.EXAMPLE.com", "a.example.COM", ignoringCase: true))
        #expect(!Glob.matches("*.EXAMPLE.com", "a.example.COM"))
    }

    /// With backtracking over every star this would not end within the life of the machine.
    @Test func manyStarsStayCheap() {
        let pattern = String(repeating: "a*", count: 40) + "b"
        #expect(!Glob.matches(pattern, String(repeating: "a", count: 4000)))
    }
}
