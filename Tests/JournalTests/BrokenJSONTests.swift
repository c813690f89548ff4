import Journal
import Testing

/// Bodies that are JSON as far as they go, or not quite: nothing of them is kept in which a secret could not be told.
struct BrokenJSONTests {
    private static let secret = "zQ17k7Xw9Lp2Vb4Tn6Rm8Y"

    private static func kept(_ body: String, type: String = "application/json", limit: Int = 2048) throws -> PackedFlow
    {
        try kept(Array(body.utf8), type: type, limit: limit)
    }

    private static func kept(
        _ body: [UInt8], type: String = "application/json", limit: Int = 2048
    ) throws -> PackedFlow {
        var store = JournalStore(JournalStore.Settings(memory: 1 << 20, bodies: limit)) { ("note", "\($0)") }
        var batch = FlowBatch()
        var packer = batch.begin([])
        packer.set(.requestBytes, body.count)
        packer.set(.request, "Content-Type: \(type)\r\n")
        packer.set(.requestBody, body.prefix(limit))
        batch.end(packer)
        return try #require(store.take(batch, offset: 0).first)
    }

    /// A photo behind them is longer than what is kept of a body.
    private static let photo = "\"data:image/png;base64," + String(repeating: "A", count: 4096) + "\""

    private static let cut: [String] = [
        #"[{"operation":"replace","field":"/password","value":"$ECRET"},{"operation":"add","field":"/photo","value":PHOTO}]"#,
        #"{"Operations":[{"op":"replace","path":"password","value":"$ECRET"},{"op":"add","path":"photos","value":PHOTO}]}"#,
        #"[{"field":"/kbaInfo"},{"operation":"replace","value":"$ECRET","photo":PHOTO,"field":"/password"}]"#,
        #"{"kbaInfo":[{"questionId":"1","answer":"a pet"},{"questionId":"2","answer":"$ECRET"}],"photo":PHOTO}"#,
        #"{"attributes":[{"name":"userPassword","value":["x","$ECRET"]}],"photo":PHOTO}"#,
        #"{"name":["userpassword"],"value":["$ECRET"],"photo":PHOTO}"#,
        #"{"password":{"$purpose":"x","$value":"$ECRET"},"photo":PHOTO}"#,
        #"{"tokens":[{"x":"y"}],"secret":{"a":1,"b":"$ECRET"},"photo":PHOTO}"#,
        #"{"advices":{"TransactionConditionAdvice":["$ECRET"]},"photo":PHOTO}"#,
        #"{"callbacks":[{"type":"FancyCallback","input":[{"name":"IDToken1","value":{"x":{"y":"$ECRET"}}}]}],"x":PHOTO}"#,
        #"{"callbacks":[{"input":[{"name":"IDToken1","value":"$ECRET"}],"x":PHOTO,"type":"PasswordCallback"}]}"#,
        #"{"p\u0061ssword":"$ECRET","x":PHOTO}"#, #"{"x":PHOTO,"password":"$ECRET"}"#,
    ]

    @Test("In a truncated body, a secret is still found by its object and its siblings", arguments: cut)
    func isCut(_ body: String) throws {
        let text = body.replacing("$ECRET", with: Self.secret).replacing("PHOTO", with: Self.photo)
        let flow = try Self.kept(text)
        let kept = try #require(flow.text(.requestBody))
        #expect(!kept.contains(Self.secret) && flow.flags.contains(.requestBodyCut), "\(kept)")
        #expect(kept.contains("#") || body.hasPrefix(#"{"x":PHOTO"#), "\(kept)")
    }

    private static let deep = String(repeating: #"{"a":"#, count: 70) + "1" + String(repeating: "}", count: 70)

    @Test(
        "A body that only begins as JSON is stored up to the end of the JSON",
        arguments: [
            (#"{"password":"$ECRET","a":\#(deep)}"#, #"{"password":"password#1""#, true),
            (
                #"[{"field":"/password","value":"$ECRET"},{"field":"/x","value":\#(deep)}]"#,
                #"[{"field":"/password","value":"password#1"},{"field":"/x""#, true
            ),
            (#"[{"field":"/password","value":"$ECRET"}] x"#, #"[{"field":"/password","value":"password#1"}]"#, true),
            (
                #"{"n":"k","x":{"field":"/password","value":"$ECRET","y":"#,
                #"{"n":"k","x":{"field":"/password","value":"password#1","y":"#, false
            ),
            (#"{"a":1,/*c*/"name":"password","value":"$ECRET"}"#, #"{"a":1"#, true),
            (
                "{\"field\":\"/password\",\"value\":\"$ECRET\"}\n{\"field\":\"/x\",\"value\":\"1\"}\n",
                "{\"field\":\"/password\",\"value\":\"password#1\"}\n{\"field\":\"/x\",\"value\":\"1\"}\n", false
            ),
            (
                "\u{1E}{\"field\":\"/password\"}\n\u{1E}{\"value\":\"open\"}",
                "\u{1E}{\"field\":\"/password\"}\n\u{1E}{\"value\":\"open\"}", false
            ),
            (#"[{"field":"/password","value":"$ECRET",},]"#, #"[{"field":"/password","value":"password#1",},]"#, false),
            (#"{"password":"$ECRET\ud800"}"#, #"{"password":"password#1"}"#, false),
            (
                "{\"field\":\"/password\",\"value\":\"$ECRET\n\"}",
                "{\"field\":\"/password\",\"value\":\"password#1\"}", false
            ),
            (
                ")]}',\n{\"field\":\"/password\",\"value\":\"$ECRET\"}",
                ")]}',\n{\"field\":\"/password\",\"value\":\"password#1\"}", false
            ),
        ])
    func beginning(_ body: String, _ expected: String, _ isCut: Bool) throws {
        let flow = try Self.kept(body.replacing("$ECRET", with: Self.secret))
        #expect(flow.text(.requestBody) == expected)
        #expect(flow.flags.contains(.requestBodyCut) == isCut && !flow.flags.contains(.unread))
    }

    @Test("Invalid UTF-8 does not hide a secret beside it")
    func bytes() throws {
        let body =
            Array(#"[{"field":"/password","value":"\#(Self.secret)"},{"x":""#.utf8) + [0xFF, 0xDF] + Array("\"}]".utf8)
        let flow = try Self.kept(body)
        #expect(
            flow[.requestBody].elementsEqual(
                Array(#"[{"field":"/password","value":"password#1"},{"x":""#.utf8) + [0xFF, 0xDF] + Array("\"}]".utf8)))
    }

    @Test(
        "A body that claims to be JSON and is not is dropped",
        arguments: [
            (#"{/*c*/"name":"password","value":"$ECRET"}"#, "text/plain"),
            (#"{name:"password",value:"$ECRET"}"#, "application/json"),
            (#"x{"p\u0061ssword":"$ECRET"}"#, "application/json"),
            ("password is $ECRET", "application/problem+json"), ("{{password}} $ECRET", ""),
        ])
    func nothing(_ body: String, _ type: String) throws {
        let flow = try Self.kept(body.replacing("$ECRET", with: Self.secret), type: type)
        #expect(flow.isEmpty(.requestBody) && flow.flags.isSuperset(of: [.unread, .requestBodyCut]))
        #expect(FlowMessage(flow, .request)?.isUnread == true)
    }

    @Test("Invalid JSON without a secret is stored")
    func harmless() throws {
        for body in [#"{/*c*/"name":"colour","value":"red"}"#, "{{greeting}}, world", "[x](y)"] {
            let flow = try Self.kept(body)
            #expect(flow.text(.requestBody) == body && flow.flags == [])
        }
    }

    @Test(
        "Invalid JSON in a string is searched, and replaced as a whole if it has members",
        arguments: [
            (#"{"a":"{0} token: $ECRET"}"#, #"{"a":"{0} token: token#1"}"#),
            (#"{"a":"[\"x\"] {'b' \"name\": \"password\", \"value\": \"$ECRET\"}"}"#, #"{"a":"[\"x\"]secret#1"}"#),
            (
                #"{"a":"{\"field\":\"/password\",\"value\":\"$ECRET"}"#,
                #"{"a":"{\"field\":\"/password\",\"value\":\"password#1\""}"#
            ),
        ])
    func nested(_ body: String, _ expected: String) throws {
        #expect(try Self.kept(body.replacing("$ECRET", with: Self.secret)).text(.requestBody) == expected)
    }

    @Test("In truncated JSON, a value without a name beside it is stored")
    func values() throws {
        let list = #"{"token":"\#(Self.secret)","value":[{"name":"a","colour":"red"},{"colour":"blue","x":"#
        let kept = try #require(try Self.kept(list + Self.photo).text(.requestBody))
        #expect(kept.contains("red") && kept.contains("blue") && !kept.contains(Self.secret))
    }
}
