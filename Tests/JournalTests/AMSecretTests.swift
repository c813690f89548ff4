import Formats
import Journal
import Testing

/// The secrets of AM's own messages, each in the places in which AM, its SDKs and what logs in with it have it.
struct AMSecretTests {
    private static let secret = "zQ17k7Xw9Lp2Vb4Tn6Rm8Y"

    struct Shape: CustomTestStringConvertible, Sendable {
        var part: FlowPart
        var type = "application/json"
        var text: String

        init(_ part: FlowPart, _ text: String, type: String = "application/json") {
            (self.part, self.type, self.text) = (part, type, text)
        }

        var testDescription: String { String(text.prefix(80)) }
    }

    /// Parameters: in URLs, forms, JSON, pages and where an answer leads.
    private static let parameters = [
        "SAMLart", "SAMLResponse", "wresult", "auth_req_id", "ticket", "rpt", "pct", "request_uri", "pass",
        "IDToken1token", "IDToken1answer", "IDToken2", "answer1", "answer12", "_token", "xtoken", "_secret", "authId",
        "suspendedId", "code", "device_code", "user_code", "id_token_hint", "logout_token", "session_state_token",
        "sessionHandle", "tokenId", "client_secret", "recoveryCode",
    ]

    private static let named: [Shape] = parameters.flatMap { name -> [Shape] in
        [
            Shape(.target, "/p?\(name)=$ECRET"), Shape(.target, "/p?a=1&\(name)=$ECRET&b=2"),
            Shape(.requestBody, "\(name)=$ECRET", type: "application/x-www-form-urlencoded"),
            Shape(.requestBody, "a=1&\(name)=$ECRET&b=2", type: "application/x-www-form-urlencoded"),
            Shape(.requestBody, "\(name)=$ECRET", type: "text/plain"),
            Shape(.requestBody, "{\"\(name)\":\"$ECRET\"}"), Shape(.responseBody, "{\"a\":{\"\(name)\":\"$ECRET\"},"),
            Shape(.responseBody, "<form><input name=\"\(name)\" value=\"$ECRET\"></form>", type: "text/html"),
            Shape(.responseBody, "<a href=\"https://a.test/p?\(name)=$ECRET\">", type: "text/html"),
            Shape(.responseBody, "<script>var x = {\(name): ['$ECRET']}</script>", type: "text/html"),
            Shape(.responseBody, "<script>go('p\\x3F\(name)\\x3D$ECRET\\x26b\\x3D1')</script>", type: "text/html"),
            Shape(.responseBody, "go('p\\u003F\(name)\\u003D$ECRET\\u0026b')", type: "text/javascript"),
            Shape(.response, "Location: https://a.test/p?\(name)=$ECRET\r\n"),
            Shape(.response, "Location: https://a.test/p#a=1&\(name)=$ECRET\r\n"),
            Shape(.request, "Referer: https://a.test/p?\(name)=$ECRET&empty=\r\n"),
        ]
    }

    private static func callback(_ type: String, _ input: String) -> String {
        "{\"authId\":\"x\",\"callbacks\":[{\"type\":\"\(type)\",\"output\":[{\"name\":\"prompt\",\"value\":\"P\"}],"
            + "\"input\":[{\"name\":\"\(input)\",\"value\":\"$ECRET\"}]}]}"
    }

    /// Too short to be looked for anywhere else.
    private static let short: [Shape] = [
        Shape(.target, "/p?pw=$ECRET"), Shape(.target, "/p?a=1&PW=$ECRET&b=2"),
        Shape(.requestBody, "pw=$ECRET", type: "application/x-www-form-urlencoded"),
        Shape(.request, "Referer: https://a.test/p?pw=$ECRET\r\n"),
        Shape(.request, "A: b\r\nReferer: https://a.test/p?u=x&pw=$ECRET&b\r\nAccept: */*\r\n"),
        Shape(.response, "Location: https://a.test/p?x=1;pw=$ECRET\r\n"),
        Shape(.responseBody, "<a href=\"https://a.test/p?pw=$ECRET\">", type: "text/html"),
    ]

    private static let callbacks: [Shape] = [
        ("PasswordCallback", "IDToken1"), ("ValidatedCreatePasswordCallback", "IDToken1"),
        ("KbaCreateCallback", "IDToken1answer"), ("IdPCallback", "IDToken1token"), ("ReCaptchaCallback", "IDToken1"),
        ("ReCaptchaEnterpriseCallback", "IDToken1token"), ("AppIntegrityCallback", "IDToken1token"),
        ("DeviceBindingCallback", "IDToken1jws"), ("DeviceSigningVerifierCallback", "IDToken1jws"),
        ("PingOneProtectEvaluationCallback", "IDToken1signals"), ("HiddenValueCallback", "IDToken1"),
        ("X509CertificateCallback", "IDToken1"), ("HttpCallback", "IDToken1"), ("NobodyKnowsCallback", "IDToken1"),
    ].map { Shape(.requestBody, callback($0, $1)) }

    private static let push =
        "pushauth://push/Sandbox:demo?l=YW1sYmNvb2tpZT0wMQ&issuer=U2FuZGJveA&m=REGISTER:7f&s=$ECRET&c=a$ECRETb&r=x"
    private static func scripted(_ text: String, _ mark: String) -> String {
        [":", "/", "?", "&", "="].reduce(text) { text, sign in
            let code = String(sign.utf8.first ?? 0, radix: 16, uppercase: true)
            return text.replacing(sign, with: mark + code)
        }
    }
    private static func output(_ text: String) -> String {
        JSONValue.object([
            .init(
                "callbacks",
                .array([
                    ["type": "TextOutputCallback", "output": [["name": "message", "value": .string(text)]]]
                ]))
        ]).serialized
    }
    private static let recovery = """
        var newLocation = document.getElementById("wrapper");
        newLocation.getElementsByTagName("fieldset")[0].innerHTML = "<div class=\\"panel panel-default\\">\\n" +
        "<h4>You must make a copy of these recovery codes.</h4>\\n" + "<div class=\\"text-center\\">\\n" +
        "iZmEtxvQ00\\n" + "$ECRET\\n" + "</div>" + oldHtml;
        """

    private static let registrations: [Shape] = [
        push, push.replacing("pushauth", with: "mfauth"), "otpauth://totp/a:b?period=30&secret=$ECRET&issuer=x",
    ].flatMap { uri -> [Shape] in
        let scripts = [scripted(uri, "\\x"), scripted(uri, "\\u00")].map {
            "window.QRCodeReader.createCode({ id: 'callback_0', text: '\($0)', version: '20', code: 'L' });"
        }
        return ([uri] + scripts).map { Shape(.responseBody, output($0)) }
            + scripts.map { Shape(.responseBody, "<script>\($0)</script>", type: "text/html") } + [
                Shape(.response, "Location: \(uri)\r\n"),
                Shape(.responseBody, "<a href=\"\(uri)\">", type: "text/html"),
                Shape(.responseBody, "{\"uri\":\"\(uri)\"}"), Shape(.target, "/p?uri=\(PercentCoding.encode(uri))"),
            ]
    }

    private static let documents: [Shape] =
        [
            Shape(.responseBody, output(recovery)), Shape(.responseBody, recovery, type: "text/javascript"),
            Shape(
                .responseBody, "<h1>Recovery codes</h1><ul><li>iZmEtxvQ00</li><li>$ECRET</li></ul>", type: "text/html"),
            Shape(.responseBody, "{\"recoveryCodes\":[\"a\",\"$ECRET\"]}"),
            Shape(.responseBody, "{\"recoveryCodes\":[\"a\",\"$ECRET\"],"),
            Shape(.requestBody, "{\"kbaInfo\":[{\"questionId\":\"1\",\"answer\":\"$ECRET\"}]}"),
            Shape(.requestBody, "{\"input\":{\"kba\":[{\"answer\":\"$ECRET\"}]}}"),
            Shape(.requestBody, "{\"input\":{\"answer1\":\"$ECRET\"}}"),
            // patches of IDM, SCIM (RFC 7644) and JSON (RFC 6902)
            Shape(.requestBody, "[{\"operation\":\"replace\",\"field\":\"/password\",\"value\":\"$ECRET\"}]"),
            Shape(.requestBody, "[{\"value\":\"$ECRET\",\"operation\":\"add\",\"field\":\"password\"}]"),
            Shape(
                .requestBody, "[{\"operation\":\"replace\",\"field\":\"/kbaInfo\",\"value\":[{\"answer\":\"$ECRET\"}]}]"
            ),
            Shape(
                .requestBody,
                "{\"schemas\":[\"urn:ietf:params:scim:api:messages:2.0:PatchOp\"],\"Operations\":[{\"op\":\"replace\",\"path\":\"password\",\"value\":\"$ECRET\"}]}",
                type: "application/scim+json"),
            Shape(
                .requestBody,
                "{\"Operations\":[{\"op\":\"add\",\"path\":\"urn:ietf:params:scim:schemas:core:2.0:User:password\",\"value\":\"$ECRET\"}]}"
            ),
            Shape(.requestBody, "{\"Operations\":[{\"op\":\"add\",\"value\":{\"password\":\"$ECRET\"}}]}"),
            Shape(
                .requestBody,
                "[{\"op\":\"replace\",\"path\":\"/users/0/client_secret\",\"value\":{\"value\":\"$ECRET\"}}]"),
            Shape(.responseBody, "{\"request_uri\":\"urn:ietf:params:oauth:request_uri:$ECRET\",\"expires_in\":90}"),
            Shape(.response, "Location: https://app.test/?ticket=ST-1-$ECRET-cas\r\n"),
            Shape(.request, "Authorization: UMA ticket=\"$ECRET\"\r\n"),
        ]
        + ["k", "d", "p", "q", "dp", "dq", "qi"].flatMap { name -> [Shape] in
            let key =
                "{\"keys\":[{\"kid\":\"1\",\"\(name)\":\"$ECRET\",\"kty\":\"RSA\",\"n\":\"public\",\"e\":\"AQAB\"}]}"
            return [
                Shape(.requestBody, key), Shape(.responseBody, key + "x", type: "text/plain"),
                Shape(.requestBody, JSONValue.object([.init("jwks", .string(key))]).serialized),
            ]
        } + [
            Shape(
                .requestBody, "{\"kty\":\"RSA\",\"n\":\"public\",\"oth\":[{\"r\":\"a\",\"d\":\"$ECRET\",\"t\":\"b\"}]}")
        ]

    private static let shapes = named + short + callbacks + registrations + documents

    private static func kept(_ shape: Shape, _ secret: String = secret) throws -> String {
        var store = JournalStore(JournalStore.Settings(memory: 1 << 20, bodies: 8192)) { ("note", "\($0)") }
        var batch = FlowBatch()
        var packer = batch.begin([])
        packer.set(.id, 1)
        let text = shape.text.replacing("$ECRET", with: secret)
        for part in [FlowPart.target, .request, .requestBody, .response, .responseBody] {
            if part == shape.part {
                packer.set(part, text)
            } else if part == .request && shape.part == .requestBody || part == .response && shape.part == .responseBody
            {
                packer.set(part, "Content-Type: \(shape.type)\r\n")
            }
        }
        batch.end(packer)
        return try #require(store.take(batch, offset: 0).first?.text(shape.part))
    }

    @Test("No secret of AM's messages is stored", arguments: shapes)
    func isHidden(_ shape: Shape) throws {
        let kept = try Self.kept(shape)
        #expect(!kept.contains(Self.secret) && kept.contains("#"), "\(kept)")
    }

    @Test("Text beside a secret is stored unchanged")
    func isShown() throws {
        let push = try Self.kept(Shape(.responseBody, Self.output(Self.scripted(Self.push, "\\x"))))
        #expect(push.contains("REGISTER\\\\x3A7f") && push.contains("issuer\\\\x3DU2FuZGJveA"), "\(push)")
        let referer = try Self.kept(Shape(.request, "Referer: https://a.test/p?pw=$ECRET&page=2&empty=\r\n"))
        #expect(referer == "Referer: https://a.test/p?pw=password#1&page=2&empty=\r\n")
        let key = try Self.kept(Shape(.responseBody, "{\"kty\":\"EC\",\"d\":\"$ECRET\",\"x\":\"1\",\"y\":\"2\"}"))
        #expect(key == "{\"kty\":\"EC\",\"d\":\"secret#1\",\"x\":\"1\",\"y\":\"2\"}")
        // where no key is, these are names like any other
        #expect(try Self.kept(Shape(.responseBody, "{\"d\":\"1\",\"k\":\"2\"}")) == "{\"d\":\"1\",\"k\":\"2\"}")
        #expect(try Self.kept(Shape(.target, "/p?s=1&c=2")) == "/p?s=1&c=2")
        let patch = "[{\"operation\":\"replace\",\"field\":\"/mail\",\"value\":\"a@b\"}]"
        #expect(try Self.kept(Shape(.requestBody, patch)) == patch)
        for type in ["ChoiceCallback", "ConfirmationCallback", "StringAttributeInputCallback", "SelectIdPCallback"] {
            #expect(try Self.kept(Shape(.requestBody, Self.callback(type, "IDToken1"))).contains(Self.secret))
        }
    }
}
