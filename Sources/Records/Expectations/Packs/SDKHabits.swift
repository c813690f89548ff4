internal import Formats
internal import Interception
internal import Journal

extension RulePack {
    /// What the SDKs do, and what an app without one easily forgets.
    static let sdkHabits = RulePack(
        "sdk-habits", "What the ForgeRock and Ping SDKs do.",
        Rule(
            "requested-with", "Calls of a login and logouts name the SDK in X-Requested-With.",
            "forgerock-javascript-sdk, auth/index.ts; AM refuses JSON calls without this field or Accept-API-Version",
            when: .action(.startAuthenticate, .authenticate, .resumeAuthenticate, .logout),
            each: .key(.header("x-requested-with"), "forgerock-sdk", "ping-sdk")),
        Rule(
            "json-steps", "A step is sent back as JSON.", "forgerock-android-sdk, AuthServiceClient.java",
            when: .action(.authenticate), each: .key(.header("content-type"), "application/json*")),
        Rule(
            "callbacks-returned", "A step goes back with the callbacks that it came with, in their order.",
            "forgerock-ios-sdk, Node.swift", CallbacksReturned()),
        Rule(
            "polling-wait", "The next call waits as long as a PollingWaitCallback says.",
            "forgerock-javascript-sdk, polling-wait-callback.ts", PollingWait()),
        Rule(
            "single-refresh", "A refresh token is not refreshed twice at a time.",
            "forgerock-android-sdk 4.6.0, SDKS-3254", SingleRefresh()),
        Rule(
            "bearer", "A call to userinfo has the token in Authorization.", "RFC 6750 §2.1; the SDKs' OAuth2Client",
            when: .action(.userInfo), each: .key(.header("authorization"), "Bearer *", "DPoP *")),
        Rule(
            "id-token-hint", "The end of an OpenID Connect session names the ID token.",
            "OIDC RP-Initiated Logout §2; the SDKs' OAuth2Client",
            when: .action(.endSession), each: .parameter("id_token_hint", "*")))
}

struct CallbacksReturned: FlowRule {
    private var steps = OpenSteps()

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        guard let step = steps.take(exchange), !exchange.flow.flags.contains(.requestBodyCut) else { return .other }
        let asked = Self.types(StoredExchange(step).member("callbacks", of: .responseBody))
        let sent = Self.types(exchange.member("callbacks", of: .requestBody))
        return asked == sent
            ? .fits
            : .breaks("it sends \(Self.words(sent)), and the step of flow \(FlowID(step.id)) has \(Self.words(asked))")
    }

    private static func types(_ callbacks: JSONValue?) -> [String] {
        (callbacks?.items ?? []).map { $0["type"]?.text ?? "" }
    }

    private static func words(_ types: [String]) -> String {
        types.isEmpty ? "no callbacks" : types.prefix(8).joined(separator: ", ")
    }
}

struct PollingWait: FlowRule {
    private var steps = OpenSteps()
    /// What timers and clocks may be off by, in milliseconds.
    private static let tolerance = 50

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        guard let step = steps.take(exchange).map({ StoredExchange($0) }),
            let callbacks = step.member("callbacks", of: .responseBody)?.items,
            // a person may end the wait
            !callbacks.contains(where: { $0["type"]?.text == "ConfirmationCallback" }),
            let wait = callbacks.lazy.compactMap(Self.wait).first
        else { return .other }
        let pause = exchange.began - step.ended
        return pause + Self.tolerance >= wait
            ? .fits : .breaks("it came after \(pause) ms, and AM asked for \(wait) ms")
    }

    private static func wait(_ callback: JSONValue) -> Int? {
        guard callback["type"]?.text == "PollingWaitCallback" else { return nil }
        let time = callback["output"]?.items?.first { $0["name"]?.text == "waitTime" }?["value"]
        return time?.integer ?? time?.text.flatMap { Int($0) }
    }
}

struct SingleRefresh: FlowRule {
    private var running = Recollection<String, (began: Int, ended: Int, id: FlowID)>()

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        guard exchange.action == .refreshToken, let token = exchange.form("refresh_token") else { return .other }
        defer { running[token] = (exchange.began, exchange.ended, exchange.id) }
        guard let other = running[token], exchange.began < other.ended, other.began < exchange.ended else {
            return .fits
        }
        return .breaks("flow \(other.id) refreshes \(token) at the same time")
    }
}
