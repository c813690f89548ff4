import Configuration
import Formats
import ProxyCore
import TLSEngine
import Testing

@testable import Operation

@Suite("What usher.proxy shows")
struct PageBuilderTests {
    private func authority() throws -> AuthorityCertificates {
        let folder = try TemporaryFolder()
        return try AuthorityStore(AuthoritySettings(), in: StateDirectory(path: folder.path)).certificatesOrMake()
            .certificates
    }

    @Test func theCAInEveryForm() throws {
        let authority = try authority()
        let pages = try PageBuilder(authority: authority, proxy: "http://127.0.0.1:3128").pages()
        #expect(pages["/ca.pem"]?.body == authority.root.pem && pages["/ca.cer"]?.body == authority.root.der)
        #expect(pages["/ca.cer"]?.type == "application/x-x509-ca-cert")
        #expect(pages["/ca.p12"]?.body.first == 0x30)
        #expect(pages["/health"]?.body == Array("ok\n".utf8))
        let html = String(decoding: pages["/"]?.body ?? [], as: UTF8.self)
        #expect(html.contains(authority.root.fingerprint))
        for word in [
            "Debian", "macOS", "Windows", "iOS", "Android", "Firefox", "Java", "Node", "Python", "Go", ".NET",
            "usher run",
        ] { #expect(html.contains(word)) }
    }

    @Test func nothingRunsAndNothingComesFromElsewhere() throws {
        let pages = try PageBuilder(authority: try authority(), proxy: "http://127.0.0.1:3128").pages()
        let html = String(decoding: pages["/"]?.body ?? [], as: UTF8.self)
        for word in ["<script", "src=\"", "@import", "url(", "<link", "<img", "href=\"http"] {
            #expect(!html.contains(word))
        }
        // what stands in it as an example is escaped
        #expect(html.contains("&lt;debug-overrides&gt;") && !html.contains("<debug-overrides>"))
    }

    @Test func withoutACAThereIsOnlyThePage() throws {
        let pages = try PageBuilder(authority: nil, proxy: "").pages()
        #expect(pages["/ca.pem"] == nil && pages["/ca.cer"] == nil && pages["/ca.p12"] == nil)
        #expect(pages["/"] != nil && pages["/health"] != nil)
    }

    @Test func namesAreEscaped() {
        #expect(MarkupText.escaped("<a b=\"c\">&'") == "&lt;a b=&quot;c&quot;&gt;&amp;&#39;")
        #expect(MarkupText.escaped("5 % + <ä>", and: "%+") == "5 &#37; &#43; &lt;ä&gt;")
    }
}
