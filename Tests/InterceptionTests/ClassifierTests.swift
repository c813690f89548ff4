import Formats
import HTTPCodec
import Interception
import Testing

/// Every row of the table in docs/protocol.md#actions, and its ambiguous cases.
struct ClassifierTests {
    let classifier = Classifier(servers: [
        AuthorizationServer(url: "https://am.example.com/am", host: "am.example.com"),
        AuthorizationServer(
            url: "https://custom.example.com", host: "custom.example.com",
            paths: [
                .authenticate: "/auth/login", .authorize: "/auth/start/", .accessToken: "/auth/tokenExchange",
                .sessions: "/auth/sessions", .push: "/auth/push",
            ]),
        AuthorizationServer(url: "https://[2001:db8::1]/am", host: "[2001:db8::1]"),
    ])

    func classify(
        _ line: String, _ body: String? = nil, headers: String = "", complete: Bool = true, flows: Flows? = nil
    ) throws -> Classification {
        let length = body.map { "\nContent-Length: \($0.utf8.count)" } ?? ""
        let head = try request(line + length + headers)
        return classifier.classify(head, body: body.map { Array($0.utf8) }, complete: complete, flows: flows)
    }

    // MARK: rows by path alone

    @Test(arguments: [
        ("POST", "/am/json/realms/root/sessions?_action=logout", Action.logout, "/"),
        ("POST", "/am/json/sessions/?_action=logout", .logout, "/"),
        ("POST", "/am/json/realms/alpha/sessions/TOKEN*..*?_action=logout", .logout, "/alpha"),
        ("POST", "/am/json/push/sns/message?_action=register", .pushRegister, "/"),
        ("POST", "/am/json/dev/push/sns/message?_action=authenticate", .pushAuthenticate, "/dev"),
        ("POST", "/am/json/push/sns/message?_action=refresh", .pushUpdate, "/"),
        ("POST", "/am/json/push/sns/message?_action=update", .pushUpdate, "/"),
        ("DELETE", "/am/json/realms/alpha/users/riley/devices/2fa/binding/key-1", .deleteBinding, "/alpha"),
        ("GET", "/am/oauth2/realms/root/authorize?client_id=a", .authorize, "/"),
        ("POST", "/am/oauth2/authorize", .authorize, "/"),
        ("POST", "/am/oauth2/realms/root/realms/alpha/par", .pushedAuthorization, "/alpha"),
        ("POST", "/am/oauth2/realms/root/token/revoke", .revokeToken, "/"),
        ("GET", "/am/oauth2/userinfo", .userInfo, "/"),
        ("POST", "/am/oauth2/userinfo", .userInfo, "/"),
        ("GET", "/am/oauth2/connect/endSession", .endSession, "/"),
        ("POST", "/am/oauth2/realms/beta/connect/idpEndSession", .endSession, "/beta"),
        ("GET", "/am/oauth2/realms/root/.well-known/openid-configuration", .wellKnown, "/"),
    ])
    func paths(method: String, path: String, action: Action, realm: String) throws {
        let found = try classify("\(method) https://am.example.com\(path)")
        #expect(found.action == action)
        #expect(found.realm == realm)
        #expect(found.payload == nil)
        #expect(found.payloadSource == nil)
    }

    /// It may be asked for in any realm, by a parameter or by the host.
    @Test(arguments: ["GET", "POST"])
    func theLogoutPage(method: String) throws {
        let found = try classify("\(method) https://am.example.com/am/UI/Logout?goto=x")
        #expect(found.action == .logout && found.realm == nil)
    }

    @Test(arguments: [
        ("GET", "authorize", Action.authorize), ("POST", "authorize", .authorize),
        ("POST", "par", .pushedAuthorization),
        ("POST", "revoke", .revokeToken), ("GET", "userinfo", .userInfo), ("GET", "signoff", .endSession),
        ("POST", "signoff", .endSession),
    ])
    func pingOnePaths(method: String, name: String, action: Action) throws {
        for prefix in ["", "/0f0e-env"] {
            let found = try classify("\(method) https://am.example.com\(prefix)/as/\(name)?realm=/alpha")
            #expect(found.action == action)
            #expect(found.realm == nil)
        }
    }

    @Test(arguments: [
        "OPTIONS https://am.example.com/am/oauth2/authorize",
        "GET https://am.example.com/am/json/authenticate",
        "PUT https://am.example.com/am/json/authenticate",
        "HEAD https://am.example.com/am/oauth2/userinfo",
        "GET https://am.example.com/am/oauth2/par",
        "GET https://am.example.com/am/oauth2/access_token",
        "POST https://am.example.com/am/oauth2/.well-known/openid-configuration",
        "POST https://am.example.com/am/json/authenticate/backchannel/initialize",
        "POST https://am.example.com/am/json/realms/root/policies?_action=evaluate",
        "POST https://am.example.com/am/json/sessions?_action=getSessionInfo",
        "POST https://am.example.com/am/json/sessions",
        "GET https://am.example.com/am/json/sessions?_action=logout",
        "POST https://am.example.com/am/json/push/sns/message?_action=other",
        "GET https://am.example.com/am/json/users/riley/devices/2fa/binding/key-1",
        "DELETE https://am.example.com/am/json/users/riley/devices/2fa/binding",
        "DELETE https://am.example.com/am/json/users/riley/devices/2fa/webauthn/key-1",
        "DELETE https://am.example.com/am/json/users//devices/2fa/binding/key-1",
        "POST https://am.example.com/am/oauth2/introspect",
        "POST https://am.example.com/am/json/authenticate//",
        "POST https://am.example.com/am/json/realms/authenticate",
        "POST https://am.example.com/am/json/realms/root/alpha/authenticate",
        "POST https://am.example.com/am/JSON/authenticate",
        "POST https://am.example.com/authenticate",
        "POST https://am.example.com/as/authenticate",
        "GET https://am.example.com",
        "POST https://am.example.com/auth/login",
    ])
    func noAction(line: String) throws {
        let found = try classify(line)
        #expect(found.action == nil)
        #expect(found.payload == nil)
        #expect(found.realm == nil)
    }

    // MARK: hosts

    @Test func otherHostsAreNeverClassified() throws {
        for url in [
            "https://shop.example.com/am/json/authenticate", "https://xam.example.com/am/json/authenticate",
            "https://am.example.com.evil.test/am/json/authenticate", "http://am.example.co/am/json/authenticate",
        ] {
            let head = try request("POST \(url)\nContent-Length: 2")
            #expect(classifier.begin(head) == .none)
            #expect(classifier.classify(head, body: Array("{}".utf8)).action == nil)
        }
    }

    @Test(arguments: [
        "http://AM.Example.COM:8080/json/authenticate", "https://am.example.com:8443/a/b/json/authenticate",
        "https://[2001:DB8::1]/json/authenticate",
    ])
    func hostsIgnoreCasePortAndContext(url: String) throws {
        #expect(try classify("POST \(url)").action == .startAuthenticate)
    }

    @Test func originFormTakesItsHostFromTheField() throws {
        let head = try request("POST /am/json/authenticate\nHost: am.example.com", scheme: .https)
        #expect(classifier.classify(head, body: nil).action == .startAuthenticate)
    }

    @Test func connectIsNotClassified() throws {
        let head = try request("CONNECT am.example.com:443\nHost: am.example.com:443")
        #expect(classifier.begin(head) == .none)
    }

    // MARK: realms

    @Test(arguments: [
        ("/am/json/authenticate", "/"), ("/json/authenticate", "/"), ("/am/json/realms/root/authenticate/", "/"),
        ("/am/json/realms/root/realms/a/realms/b/authenticate", "/a/b"), ("/am/json/realms/a/authenticate", "/a"),
        ("/am/json/realms/root%2Frealms%2Fa/authenticate", "/a"),
        ("/am/json/realms/root%2frealms%2fa%2frealms%2fb/authenticate", "/a/b"),
        ("/am/json/realms/%2Fa/authenticate", "/a"), ("/am/json/a/authenticate", "/a"),
        ("/am/json/a/b/authenticate", "/a/b"), ("/am/json/realms/Gr%C3%BCn/authenticate", "/Grün"),
        ("/am/json/json/authenticate", "/json"),
        ("/am/\u{301}x/json/\u{301}a/authenticate", "/\u{301}a"),
        ("/am/json/realms/root/authenticate?realm=/b", "/b"), ("/am/json/realms/a/authenticate?realm=b", "/b"),
        ("/am/json/realms/a/authenticate?realm=%2Fb%2Fc/&realm=/d", "/b/c"),
        ("/am/json/realms/a/authenticate?realm=/", "/"), ("/am/json/realms/a/authenticate?realm=", "/a"),
    ])
    func realms(path: String, realm: String) throws {
        let found = try classify("POST https://am.example.com\(path)")
        #expect(found.action == .startAuthenticate)
        #expect(found.realm == realm)
    }

    // MARK: configured paths

    @Test func configuredPathsStandForTheirEndpoints() throws {
        let host = "https://custom.example.com"
        #expect(
            try classify("POST \(host)/auth/login?authIndexType=service&authIndexValue=T").action == .startAuthenticate)
        #expect(try classify("POST \(host)/auth/login/", #"{"authId":"x"}"#).action == .authenticate)
        #expect(try classify("GET \(host)/auth/start").action == .authorize)
        #expect(
            try classify("POST \(host)/auth/tokenExchange", "grant_type=refresh_token").action == .refreshToken)
        #expect(try classify("POST \(host)/auth/sessions?_action=logout&realm=/alpha").realm == "/alpha")
        #expect(try classify("POST \(host)/auth/push?_action=register").action == .pushRegister)
        #expect(try classify("OPTIONS \(host)/auth/login").action == nil)
        #expect(try classify("GET \(host)/auth/login").action == nil)
        // what the server serves beside them is still recognised
        #expect(try classify("POST \(host)/am/json/authenticate").action == .startAuthenticate)
    }

    // MARK: tokens

    @Test(arguments: [
        ("grant_type=authorization_code&code=c", Action?.some(.exchangeToken)),
        ("code=c&redirect_uri=com.example.shop://cb path&grant_type=authorization_code", .exchangeToken),
        ("scope=a+b&grant%5Ftype=refresh%5Ftoken\n", .refreshToken),
        ("grant_type=client_credentials", nil),
        ("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange", nil),
        ("grant_type=client_credentials&grant_type=refresh_token", nil),
        ("grant_type=AUTHORIZATION_CODE", nil), ("code=c", nil), ("", nil),
    ])
    func grants(form: String, action: Action?) throws {
        for path in ["/am/oauth2/access_token", "/env/as/token"] {
            let found = try classify("POST https://am.example.com\(path)?grant_type=authorization_code", form)
            #expect(found.action == action)
        }
    }

    @Test func anUnreadableFormHasNoAction() throws {
        let line = "POST https://am.example.com/am/oauth2/access_token"
        let form = "grant_type=refresh_token"
        #expect(try classify(line, form, complete: false).action == nil)
        #expect(try classify(line, form, headers: "\nContent-Encoding: gzip").action == nil)
        #expect(try classify(line, form, headers: "\nContent-Encoding: identity").action == .refreshToken)
    }

    // MARK: authenticate

    static let line = "POST https://am.example.com/am/json/authenticate"
    static let asked = line + "?authIndexType=service&authIndexValue=Login"

    @Test(arguments: [
        "", "{}", #"{"authId":null}"#, #"{"authId":""}"#, #"{"authId":7}"#, #"{"callbacks":[]}"#, "[]", "no json",
        #"{"nested":{"authId":"x"}}"#,
    ])
    func withoutAnAuthIdItIsAStart(body: String) throws {
        let found = try classify(Self.asked, body)
        #expect(found.action == .startAuthenticate)
        #expect(found.payload == ActionPayload(tree: "Login", type: "service"))
        #expect(found.payloadSource == .query)
        let plain = try classify(Self.line, body)
        #expect(plain.action == .startAuthenticate)
        #expect(plain.payload == ActionPayload(tree: nil, type: "service"))
        #expect(plain.payloadSource == .default)
        let suspended = try classify(Self.asked + "&suspendedId=s", body)
        #expect(suspended.action == .resumeAuthenticate)
        #expect(suspended.payload == nil)
        #expect(suspended.payloadSource == nil)
    }

    @Test func queryValuesAreDecodedAndTheFirstCounts() throws {
        let found = try classify(
            Self.line + "?authIndex%54ype=transaction&authIndexValue=Two+Step%26&authIndexValue=Other&authIndexType=x")
        #expect(found.payload == ActionPayload(tree: "Two Step&", type: "transaction"))
        let bare = try classify(Self.line + "?authIndexType=service")
        #expect(bare.payload == ActionPayload(tree: nil, type: "service"))
        #expect(bare.payloadSource == .query)
        #expect(try classify(Self.line + "?authIndexValue=Login").payloadSource == .default)
    }

    static func token(_ claims: String) -> String {
        "\(Base64.encode(Array(#"{"alg":"HS256"}"#.utf8), urlSafe: true)).\(Base64.encode(Array(claims.utf8), urlSafe: true)).c2ln"
    }

    static func step(_ authId: String) -> String {
        JSONValue.object([.init("authId", .string(authId)), .init("callbacks", .array([]))]).serialized
    }

    @Test func claimsWinOverStateAndQuery() throws {
        let flows = Flows()
        let authId = Self.token(#"{"otk":"o","authIndexType":"service","authIndexValue":"Claimed"}"#)
        flows.remember(authId: authId, payload: ActionPayload(tree: "Remembered", type: "service"))
        let found = try classify(Self.asked + "&suspendedId=s&code=c&state=t", Self.step(authId), flows: flows)
        #expect(found.action == .authenticate)
        #expect(found.payload == ActionPayload(tree: "Claimed", type: "service"))
        #expect(found.payloadSource == .authId)
    }

    @Test func claimsAreUnescapedAsJavaWroteThem() throws {
        let claims =
            #"{"otk":"o","authIndexType":"composite_advice","authIndexValue":"<A n=\\\"x\\\"\\/>\\u00FC\\\\ \\q"}"#
        let found = try classify(Self.line, Self.step(Self.token(claims)))
        #expect(found.payload == ActionPayload(tree: #"<A n="x"/>ü\ \q"#, type: "composite_advice"))
    }

    @Test func claimsWithoutAnIndexMeanTheDefaultTree() throws {
        let found = try classify(Self.line, Self.step(Self.token(#"{"otk":"o","realm":"dc=example"}"#)))
        #expect(found.payload == ActionPayload(tree: nil, type: "service"))
        #expect(found.payloadSource == .authId)
    }

    @Test func anAuthIdThatSaysNothingIsLookedUp() throws {
        let flows = Flows()
        flows.remember(authId: "handle", payload: ActionPayload(tree: "Remembered", type: "service"))
        let found = try classify(Self.asked, Self.step("handle"), flows: flows)
        #expect(found.payload?.tree == "Remembered")
        #expect(found.payloadSource == .state)
        #expect(try classify(Self.asked, Self.step("other"), flows: flows).payloadSource == .query)
        let unknown = try classify(Self.line, Self.step("other"), flows: flows)
        #expect(unknown.payload == ActionPayload(tree: nil, type: nil))
        #expect(unknown.payloadSource == .unknown)
    }

    @Test(arguments: [token("[1]"), token("not json"), token(#"{"sub":"x"}"#), "a.b", "a.%%.c", "..", "a.b.c.d"])
    func brokenTokensAreOpaque(authId: String) throws {
        #expect(try classify(Self.line, Self.step(authId)).payloadSource == .unknown)
    }

    @Test func aBodyThatCannotBeReadIsTakenForAFollowUp() throws {
        let long = try classify(Self.asked, "{\"authId\":", complete: false)
        #expect(long.action == .authenticate)
        #expect(long.payload == ActionPayload(tree: "Login", type: "service"))
        #expect(long.payloadSource == .query)
        let compressed = try classify(Self.line + "?suspendedId=s", "\u{1}\u{2}", headers: "\nContent-Encoding: gzip")
        #expect(compressed.action == .authenticate)
        #expect(compressed.payloadSource == .unknown)
    }

    // MARK: steps

    /// A message that a person pasted may lack the framing of the body that came with it.
    @Test func aWholeRequestIsJudgedByTheBodyInHand() throws {
        let head = try request(Self.line)
        #expect(classifier.classify(head, body: Array(Self.step("x").utf8)).action == .authenticate)
        #expect(classifier.classify(head, body: nil).action == .startAuthenticate)
        #expect(classifier.classify(head, body: nil, complete: false).action == .authenticate)
    }

    @Test func onlyABodyThatTellsIsAskedFor() throws {
        func needsBody(_ text: String) throws -> Bool {
            if case .needsBody = classifier.begin(try request(text)) { true } else { false }
        }
        #expect(try needsBody(Self.line + "\nContent-Length: 2"))
        #expect(try needsBody(Self.line + "\nTransfer-Encoding: chunked"))
        #expect(try needsBody("POST https://am.example.com/am/oauth2/access_token\nContent-Length: 9"))
        #expect(try !needsBody(Self.line))
        #expect(try !needsBody(Self.line + "\nContent-Length: 0"))
        #expect(try !needsBody(Self.line + "\nContent-Length: 20\nContent-Encoding: br"))
        #expect(try !needsBody("POST https://am.example.com/am/json/sessions?_action=logout\nContent-Length: 2"))
        #expect(try !needsBody("POST https://am.example.com/am/oauth2/authorize\nContent-Length: 2"))
    }

    @Test func definitionsNameWhatIsNoOtherAction() throws {
        func path(_ glob: String) -> Condition { .test(.path, [.glob(glob)]) }
        let classifier = Classifier(
            servers: [AuthorizationServer(url: "https://am.example.com/am", host: "am.example.com")],
            definitions: [
                ActionDefinition(
                    action: Action(rawValue: "PAY"), when: .all([path("/pay*"), .test(.method, [.exact("POST")])])),
                ActionDefinition(action: Action(rawValue: "SHOP"), when: .test(.host, [.exact("shop.example.com")])),
                ActionDefinition(action: Action(rawValue: "TOKEN"), when: path("*/access_token")),
                ActionDefinition(action: Action(rawValue: "NEVER"), when: path("*/authenticate")),
            ])
        func action(_ wire: String, _ body: String? = nil) throws -> String? {
            let head = try request(wire + (body.map { "\nContent-Length: \($0.utf8.count)" } ?? ""))
            return classifier.classify(head, body: body.map { Array($0.utf8) }).action?.rawValue
        }
        #expect(try action("POST https://shop.example.com/pay") == "PAY")
        #expect(try action("GET https://shop.example.com/pay") == "SHOP")
        #expect(try action("GET https://other.example.com/pay") == nil)
        #expect(try action("POST https://am.example.com/pay") == "PAY")
        let token = "POST https://am.example.com/am/oauth2/access_token"
        #expect(try action(token, "grant_type=client_credentials") == "TOKEN")
        #expect(try action(token, "grant_type=refresh_token") == "REFRESH_TOKEN")
        #expect(try action("POST https://am.example.com/am/json/authenticate") == "START_AUTHENTICATE")
    }

    @Test func evidenceKeepsSecrets() throws {
        let authId = "very-secret-handle"
        for found in [
            try classify(Self.line, Self.step(authId)),
            try classify("POST https://am.example.com/am/oauth2/access_token", "grant_type=very-secret-handle"),
            try classify("POST https://am.example.com/am/json/sessions?_action=very-secret-handle"),
        ] {
            #expect(!found.evidence.contains(authId))
        }
    }

    @Test func responsesTeachTheirAuthId() {
        #expect(Classifier.authId(in: Array(#"{"authId":"a.b.c","callbacks":[]}"#.utf8)) == "a.b.c")
        #expect(Classifier.authId(in: Array(#"{"tokenId":"t"}"#.utf8)) == nil)
        #expect(Classifier.authId(in: []) == nil)
    }
}
