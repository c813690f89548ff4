import HTTPCodec
import Journal
import Testing

/// Which requests may be sent again, and as what.
struct ReplayDraftTests {
    private static func draft(
        isForced: Bool = false, secrets: [String: String] = [:], _ change: (inout FlowSamples.Sample) -> Void
    ) throws -> ReplayDraft {
        try ReplayDraft(FlowSamples.flow(change), isForced: isForced) { secrets[$0.text].map { Array($0.utf8) } }
    }

    private static func refusal(
        isForced: Bool = false, secrets: [String: String] = [:], _ change: (inout FlowSamples.Sample) -> Void
    ) -> ReplayDraft.Refusal? {
        do { _ = try draft(isForced: isForced, secrets: secrets, change) } catch let refusal as ReplayDraft.Refusal {
            return refusal
        } catch {}
        return nil
    }

    @Test("A request without a secret is replayed unchanged, without the fields of its connection")
    func plain() throws {
        let draft = try Self.draft {
            ($0.method, $0.target) = ("POST", "/a?b=%20c")
            $0.request =
                "Host: am.test\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\nX-A: 1\r\nX-A: 2\r\n"
            $0.requestBody = Array("{}".utf8)
        }
        #expect(draft.head.url == "https://am.test/a?b=%20c" && draft.head.methodText == "POST")
        #expect(draft.head.fields.lines.map { "\($0.name): \($0.value)" } == ["Host: am.test", "X-A: 1", "X-A: 2"])
        #expect(draft.body == Array("{}".utf8) && draft.hasBody)
    }

    @Test(
        "Single-use secrets are replayed only by force",
        arguments: [
            "code=code#1", "authId=authId#2", "refresh_token=token#3", "otp=one-time#1", "x=1&_txid=transaction#4",
            "code_verifier=code#9", "client_assertion=token#1", "device_code=token#2",
        ])
    func spent(_ form: String) throws {
        let refusal = try #require(
            Self.refusal {
                $0.method = "POST"
                $0.request = "Content-Type: application/x-www-form-urlencoded\r\n"
                $0.requestBody = Array(form.utf8)
            })
        #expect(refusal.canBeForced && refusal.description.contains("--force"))
        #expect(refusal.description.contains(String(form.split(separator: "=").last ?? "")))
        let other = try #require(
            Self.refusal(isForced: true) {
                $0.request = ""
                $0.requestBody = Array(form.utf8)
            })
        #expect(!other.canBeForced)
    }

    @Test("Proofs and JSON members are single-use secrets, state and nonce are not")
    func places() {
        #expect(Self.refusal { $0.request = "DPoP: token#1\r\n" }?.canBeForced == true)
        #expect(Self.refusal { $0.requestBody = Array(#"{"authId" : "authId#1"}"#.utf8) }?.canBeForced == true)
        #expect(
            Self.refusal {
                ($0.target, $0.request) = ("/authorize?state=code#1&nonce=code#2", "")
            }?.canBeForced == false)
    }

    @Test("Missing secrets are named, and stored ones are filled in with the encoding of their place")
    func filling() throws {
        let refusal = try #require(Self.refusal { _ in })
        #expect(!refusal.canBeForced && refusal.description.contains("session#3 (session)"))
        let draft = try Self.draft(secrets: ["session#3": "a b/+", "token#1": "q\"&"]) {
            $0.target = "/x?t=token#1"
            $0.request = "Cookie: session=session#3; b=session#3\r\nContent-Type: application/json\r\n"
            $0.requestBody = Array(#"{"t":"token#1"}"#.utf8)
        }
        #expect(draft.head.url == "https://am.test/x?t=q%22%26")
        #expect(draft.head.fields["Cookie"] == "session=a b/+; b=a b/+")
        #expect(String(decoding: draft.body, as: UTF8.self) == #"{"t":"q\"&"}"#)
    }

    @Test("A client's text in the form of an alias is replayed as written")
    func lures() throws {
        let draft = try Self.draft(secrets: ["session#4": "a session of somebody", "session#3": "own"]) {
            $0.request = "X-Lure: session##4 token###1\r\nCookie: session=session#3\r\n"
            $0.requestBody = Array("{\"comment\":\"session##4\"}".utf8)
        }
        #expect(draft.head.fields["X-Lure"] == "session#4 token##1" && draft.head.fields["Cookie"] == "session=own")
        #expect(String(decoding: draft.body, as: UTF8.self) == "{\"comment\":\"session#4\"}")
    }

    @Test("A secret in a nested URL is encoded as often as the URL")
    func nested() throws {
        let draft = try Self.draft(isForced: true, secrets: ["code#1": "a/b"]) {
            $0.target = "/login?goto=https%3A%2F%2Fapp%3Fcode%3Dcode#1&again=%253Dcode#1&code=code#1"
            $0.request = ""
        }
        #expect(
            draft.head.url
                == "https://am.test/login?goto=https%3A%2F%2Fapp%3Fcode%3Da%252Fb&again=%253Da%25252Fb&code=a%2Fb")
    }

    @Test("Only a separate word is an alias")
    func words() throws {
        let draft = try Self.draft {
            $0.target = "/mysession3/a"
            $0.request = "X: nosession#3 session# #3 session#x session#99999999999\r\n"
        }
        #expect(draft.head.fields["X"] == "nosession#3 session# #3 session#x session#99999999999")
    }

    @Test("Usher's own calls, tunnels and truncated bodies are never replayed")
    func never() {
        #expect(Self.refusal { $0.parent = 7 }?.description.contains("usher replay 7") == true)
        #expect(Self.refusal { ($0.scheme, $0.method) = (0, "CONNECT") }?.canBeForced == false)
        #expect(Self.refusal { $0.flags = .requestBodyCut }?.description.contains("journal.bodies") == true)
    }

    private static func edited(
        secrets: [String: String] = ["session#3": "secret"], _ change: (inout ReplayEdits) -> Void
    ) throws -> ReplayDraft {
        var edits = ReplayEdits()
        change(&edits)
        let flow = FlowSamples.flow { $0.flags = .requestBodyCut }
        edits.body = edits.body ?? ""
        return try ReplayDraft(flow, edits, isForced: false) { secrets[$0.text].map { Array($0.utf8) } }
    }

    @Test("Edits replace what they name, and the secrets are filled in")
    func edits() throws {
        let draft = try Self.edited {
            ($0.method, $0.url, $0.body) = ("PUT", "https://am.test/b?token=session#3", "new")
            $0.fields = [("X-A", "1"), ("Cookie", "session=session#3")]
        }
        #expect(draft.head.methodText == "PUT" && draft.head.url == "https://am.test/b?token=secret")
        #expect(
            draft.head.fields.lines.map { "\($0.name): \($0.value)" } == [
                "Host: am.test", "X-A: 1", "Cookie: session=secret",
            ])
        #expect(draft.body == Array("new".utf8))
        let bare = try Self.edited { ($0.url, $0.fields) = ("http://other.test:81?x", []) }
        #expect(bare.head.url == "http://other.test:81/?x" && !bare.hasBody)
    }

    @Test("No edit sends a secret elsewhere, or that of another flow")
    func foreignSecrets() {
        for url in ["https://other.test/", "http://am.test/", "https://am.test:8443/"] {
            #expect(throws: ReplayDraft.Refusal.self) { try Self.edited { $0.url = url } }
        }
        let secrets = ["session#3": "secret", "session#4": "other"]
        for value in ["session=session#4", "x=session#3; y=session#4"] {
            #expect(throws: ReplayDraft.Refusal.self) {
                try Self.edited(secrets: secrets) { $0.fields = [("Cookie", value)] }
            }
        }
        for edits in [("X:", "1"), ("X", "a\r\nB: c")] {
            #expect(throws: ReplayDraft.Refusal.self) { try Self.edited { $0.fields = [edits] } }
        }
        for url in [
            "/path", "ftp://am.test/", "https://", "https://session#3.test/", "https://user session#3@am.test/",
        ] {
            #expect(throws: ReplayDraft.Refusal.self) { try Self.edited { ($0.url, $0.fields) = (url, []) } }
        }
        for method in ["A B", "", "CONNECT", "GET / HTTP/1.1\r\nX:"] {
            #expect(throws: ReplayDraft.Refusal.self) { try Self.edited { $0.method = method } }
        }
    }
}
