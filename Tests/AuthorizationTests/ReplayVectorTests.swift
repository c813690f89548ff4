import Authorization
import Formats
import HTTPCodec
import Testing

/// Plays an exchange as the proxy does, with the answers of resource and AM taken from a vector.
private struct Exchange {
    var policy: AuthorizationPolicy
    var head: RequestHead
    var body: [UInt8]
    var stepUp: JSONValue?
    var replays: [Replay.Request] = []
    var stepUps = 0
    var cookies: [String] = []

    /// - Parameter advices: what the resource answers, time after time; nothing means a grant.
    /// - Returns: whether the client gets the answer to a replay.
    mutating func run(_ advices: [Advice]) throws -> Bool {
        var rounds = Rounds(policy)
        guard let resource = policy.resource(for: head),
            let session = SessionSource.find(in: head, body: body, policy: policy),
            policy.refusalToReplay(head, resource, bodyComplete: body.count <= policy.maxBodyBytes) == nil
        else { return false }
        var replay = Replay(policy: policy, resource: resource, session: session)
        for advice in advices where rounds.refusal(of: advice) == nil {
            rounds.begin(advice)
            stepUps += 1
            var machine = StepUp(
                policy: policy, advice: advice, session: replay.session, realm: policy.evaluatedRealm(head) ?? "/")
            guard let outcome = authenticate(&machine) else { return !replays.isEmpty }
            replay.absorb(advice, outcome)
            replays.append(try replay.request(head, body: body))
        }
        cookies = replay.cookiesForClient(head)
        return !replays.isEmpty
    }

    private func authenticate(_ machine: inout StepUp) -> StepUp.Outcome? {
        var order = machine.begin()
        for number in 0..<(stepUp?["steps"]?.integer ?? 0) where order.call != nil {
            // a configuration has a second answer only where AM asks in other words; the same is never given twice
            let name =
                "{\"type\":\"NameCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"\(number == 0 ? "Name" : "Or")\"}],"
                + "\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}"
            order = machine.answered(status: 200, fields: fields(json), body: step("a\(number)", name))
        }
        guard order.call != nil else { return nil }
        switch stepUp?["outcome"]?.text {
        case "success":
            let token = stepUp?["tokenId"]?.text.map { "{\"tokenId\":\"\($0)\"}" } ?? "{}"
            let cookies = stepUp?["setCookie"]?.items?.compactMap(\.text) ?? []
            order = machine.answered(200, token, json + cookies.map { ("Set-Cookie", $0) })
        case "failure":
            order = machine.answered(stepUp?["status"]?.integer ?? 401, "{\"code\":401}")
        case "suspended":
            order = machine.answered(
                status: 200, fields: fields(json), body: step("a", "{\"type\":\"SuspendedTextOutputCallback\"}"))
        case "unsupported-callback":
            let type = stepUp?["type"]?.text ?? ""
            order = machine.answered(
                status: 200, fields: fields(json),
                body: step("a", "{\"type\":\"\(type)\",\"input\":[{\"name\":\"x\",\"value\":\"\"}]}"))
        default: return nil
        }
        return order.outcome
    }
}

@Suite("Replay vectors")
struct ReplayVectorTests {
    private func policy(_ vector: JSONValue, _ defaults: JSONValue) -> AuthorizationPolicy {
        func setting(_ name: String) -> JSONValue? { vector["config"]?[name] ?? defaults[name] }
        let prefixes = setting("protect")?.items?.compactMap(\.text) ?? []
        var policy = AuthorizationPolicy(resources: prefixes.map { .init(url: $0 + "*") }, server: am)
        if setting("replayStyle")?.text == "query" { policy.presentToREST = .query("_txid") }
        if let bytes = setting("maxBodyBytes")?.integer { policy.maxBodyBytes = bytes }
        policy.upgradeRounds = setting("maxRounds")?["upgrade"]?.integer ?? 1
        policy.transactionRounds = setting("maxRounds")?["transaction"]?.integer ?? 1
        policy.answers = [.init(callback: "NameCallback", response: .value("robot"))]
        return policy
    }

    private func advice(_ value: JSONValue?, _ source: String?) -> Advice? {
        guard let source = source.flatMap(Advice.Source.init) else { return nil }
        let found = conditions(value?["advices"])
        return found.isEmpty ? nil : Advice(source: source, conditions: found)
    }

    @Test func everyVectorReplaysAsExpected() throws {
        let file = try vectors("replay.json")
        let defaults = try #require(file["defaultConfig"])
        let cases = try #require(file["vectors"]?.items)
        #expect(cases.count >= 34)
        for vector in cases {
            let id = Comment(rawValue: vector["id"]?.text ?? "")
            let original = try #require(vector["request"], id)
            let head = try request(
                original["method"]?.text ?? "", original["url"]?.text ?? "", lines(original["headers"]))
            var exchange = Exchange(
                policy: policy(vector, defaults), head: head, body: Array((original["body"]?.text ?? "").utf8),
                stepUp: vector["stepUp"])
            let expected = try #require(vector["expect"], id)
            let source = vector["advice"]?["source"]?.text
            let advices = [advice(vector["advice"], source), advice(expected["replayResponse"], source)]
            let isReplayed = try exchange.run(advices.compactMap { $0 })

            #expect(isReplayed == (expected["deliver"]?.text == "replayed"), id)
            check(exchange.replays.first, expected["replay"], id)
            if let url = expected["secondReplayUrl"]?.text {
                #expect(exchange.replays.count == 2 && exchange.replays.last?.head.url == url, id)
            }
            if let calls = expected["authenticateCalls"]?.integer { #expect(exchange.stepUps == calls, id) }
            if let sent = expected["timesSentUpstream"]?.integer { #expect(exchange.replays.count + 1 == sent, id) }
            let cookie = expected["setCookieToClient"]?.text
            #expect(exchange.cookies.isEmpty == (cookie == nil), id)
            if let cookie { #expect(exchange.cookies.first?.hasPrefix(cookie + ";") == true, id) }
            if let parallel = expected["parallel"] { try checkParallel(parallel, exchange, id) }
        }
    }

    private func check(_ found: Replay.Request?, _ expected: JSONValue?, _ id: Comment) {
        guard let expected, expected != .null else { return #expect(found == nil, id) }
        #expect(found?.head.methodText == expected["method"]?.text, id)
        #expect(found?.head.url == expected["url"]?.text, id)
        #expect(found.map { String(decoding: $0.body, as: UTF8.self) } == expected["body"]?.text, id)
        let wanted = lines(expected["headers"])
        for line in wanted { #expect(found?.head.fields[line.0] == line.1, id) }
        // Host is the one that every request made here has
        #expect(found?.head.fields.count == wanted.count + 1, id)
    }

    /// A second request of the same client, under way at the same time.
    private func checkParallel(_ expected: JSONValue, _ first: Exchange, _ id: Comment) throws {
        var other = first
        other.replays = []
        other.head = try request("GET", expected["url"]?.text ?? "", [("Cookie", "iPlanetDirectoryPro=SESSION-A")])
        let transaction = Advice.Condition("TransactionConditionAdvice", [expected["txId"]?.text ?? ""])
        #expect(try other.run([Advice(source: .header, conditions: [transaction])]), id)
        #expect(other.replays.first?.head.url == expected["replayUrl"]?.text, id)
    }
}
