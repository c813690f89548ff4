import Formats
import Testing

@testable import Operation

struct PageFolderTests {
    @Test("The page is beside an installed program, or in the build's folder")
    func folders() {
        #expect(PageFolder.folders(of: "/usr/bin/usher") == ["/usr/share/usher/web"])
        #expect(
            PageFolder.folders(of: "/src/.build/x86_64-unknown-linux-gnu/debug/usher") == [
                "/src/.build/x86_64-unknown-linux-gnu/share/usher/web", "/src/.build/web",
            ])
        #expect(PageFolder.folders(of: "usher") == ["/share/usher/web"])
    }

    @Test("A link says how to reach it, and from another machine, too")
    func link() {
        let text = PageLinkText(["url": "http://127.0.0.1:1/#key=k", "port": 1, "expires_s": 120], [:]).text
        #expect(text == "The page: http://127.0.0.1:1/#key=k (valid for 2 minutes, once)\n")
        let far = PageLinkText(["url": "x", "port": 7, "expires_s": 120], ["SSH_CONNECTION": "a"]).text
        #expect(far.hasSuffix("ssh -L 7:127.0.0.1:7 host\n"))
    }
}
