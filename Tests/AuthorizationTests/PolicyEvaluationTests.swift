import Authorization
import Testing

/// An app that asks AM for decisions by itself.
@Suite("Policy evaluations")
struct PolicyEvaluationTests {
    private static let url = "https://am.example.test/am/json/realms/root/policies?_action="
    private let agent = [("Cookie", "iPlanetDirectoryPro=AGENT; amlbcookie=01"), ("Content-Type", "application/json")]

    private func subject(_ body: String, action: String = "evaluate") throws -> SessionSource? {
        try SessionSource.find(
            in: request("POST", Self.url + action, agent), body: Array(body.utf8), policy: policy())
    }

    @Test(arguments: ["evaluate", "evaluateTree"]) func whoIsMeant(_ action: String) throws {
        let users = try subject(#"{"subject":{"ssoToken":"USER","jwt":"x"}}"#, action: action)
        #expect(users?.token == "USER" && users?.carrier == .subject && users?.affinity == nil)
        let own = try subject(#"{"subject":{"ssoToken":"AGENT"}}"#, action: action)
        #expect(own?.token == "AGENT" && own?.affinity == "01")
        for body in [#"{"resources":["r"]}"#, #"{"subject":null}"#] {
            #expect(try subject(body, action: action)?.token == "AGENT")
        }
    }

    /// Nobody else is stepped up in the place of one who is not known.
    @Test(arguments: [
        #"{"subject":{"jwt":"e.y.J"}}"#, #"{"subject":{"claims":{"sub":"ada"}}}"#, #"{"subject":{}}"#,
        #"{"subject":"USER"}"#,
        #"{"subject":{"ssoToken":["USER"]}}"#, #"{"subject":{"ssoToken":"a;b"}}"#, "", "[]", "{\"subject\"",
        #"{"subject":{"ssoToken":"A"},"subject":{"ssoToken":"B"}}"#, #"{"subject":{"ssoToken":"A","ssoToken":"B"}}"#,
    ])
    func whoIsNot(_ body: String) throws {
        #expect(try subject(body) == nil)
        #expect(try SessionSource.absence(in: request("POST", Self.url + "evaluate"), policy()).contains("ssoToken"))
    }

    private func decision(_ resource: String, _ advices: String, actions: String = "{}") -> String {
        #"{"resource":"\#(resource)","actions":\#(actions),"attributes":{},"advices":\#(advices),"ttl":0}"#
    }

    /// A transaction is good for one access, so whatever else is asked for comes before it.
    @Test func severalDecisions() throws {
        let transaction = decision("a", #"{"TransactionConditionAdvice":["t-1"]}"#)
        let second = decision("b", #"{"TransactionConditionAdvice":["t-2"]}"#)
        let upgrade = decision("c", #"{"AuthLevelConditionAdvice":["7"]}"#)
        let granted = decision("d", #"{"AuthLevelConditionAdvice":["9"]}"#, actions: #"{"GET":true}"#)
        func name(_ decisions: [String]) -> String? {
            readAdvice(200, json, Array("[\(decisions.joined(separator: ","))]".utf8))?.conditions.first?.values.first
        }
        #expect(name([granted, transaction, second]) == "t-1" && name([transaction, upgrade]) == "7")
        #expect(name([upgrade, transaction]) == "7" && name([granted]) == nil && name([second, granted]) == "t-2")
    }

    // MARK: asked again

    private func again(_ body: String, session: String? = nil, transaction: Bool = true) throws -> String {
        let head = try request("POST", Self.url + "evaluate", agent)
        let found = try #require(SessionSource.find(in: head, body: Array(body.utf8), policy: policy()))
        var replay = Replay(policy: policy(), resource: .init(url: "*"), session: found)
        let advice = Advice(
            source: .body,
            conditions: [
                transaction ? .init("TransactionConditionAdvice", ["t-1"]) : .init("AuthLevelConditionAdvice", ["7"])
            ])
        replay.absorb(advice, .init(session: session))
        return String(decoding: try replay.request(head, body: Array(body.utf8)).body, as: UTF8.self)
    }

    /// Nothing but what has to be is another byte.
    @Test func byteForByte() throws {
        let body = "{ \"resources\":[\"https:\\/\\/a\"],\n\t\"subject\" : {\"ssoToken\":\"USER\"}, \"n\": 1.0e2 }\n"
        #expect(try again(body) == body.replacing(" }\n", with: ", \"environment\": {\"TxId\":[\"t-1\"]} }\n"))
        #expect(try again(body, session: "NEW", transaction: false) == body.replacing("USER", with: "NEW"))
        let stale = "{\"subject\":{\"ssoToken\":\"USER\"},\"environment\":{ \"IP\":[\"::1\"], \"TxId\" : [\"old\"]}}"
        #expect(try again(stale) == stale.replacing("old", with: "t-1"))
        let none = "{\"subject\":{\"ssoToken\":\"USER\"},\"environment\":null}"
        #expect(try again(none) == none.replacing("null", with: "{\"TxId\":[\"t-1\"]}"))
    }

    /// The caller of a question keeps its session, unless it is the one that is meant.
    @Test func whoseSessionIsNew() throws {
        let own = "{\"subject\":{\"ssoToken\":\"AGENT\"}}"
        #expect(try again(own, session: "NEW", transaction: false) == "{\"subject\":{\"ssoToken\":\"NEW\"}}")
        let plain = "{\"resources\":[\"r\"]}"
        #expect(try again(plain, session: "NEW", transaction: false) == plain)
    }
}
