internal import Formats

/// How AM answered one call of a login.
public enum JourneyEnding: CaseIterable, Sendable {
    /// With a step that asks for more.
    case asks
    /// It goes on by a link that was mailed.
    case suspends
    case succeeds
    case refuses
    /// Nothing came.
    case fails
    /// Of what came too little is kept.
    case unread
}

/// One authenticate call of a journey: what the app sent, and what AM asked then.
public struct JourneyStep: Sendable {
    public let flow: PackedFlow
    public let ending: JourneyEnding
    /// The same `authId` went out before, and AM had not given it anew since.
    public let isRepeated: Bool
    /// Milliseconds since the end of the call before it: the person's time, or the app's.
    public let pause: Int
    let sent: SecretAlias?
    let given: SecretAlias?

    /// Milliseconds that AM took: from when the request went out on.
    public var atServer: Int {
        let duration = max(0, flow[.duration])
        return duration - min(duration, flow.time(.sent) ?? 0)
    }

    /// Milliseconds since 1970.
    var end: Int { flow[.began] + max(0, flow[.duration]) }

    // MARK: what AM says of the step

    private static let mostText = 200

    /// The name that the page of a tree has for apps.
    public var stage: String? { text("stage") }
    public var header: String? { text("header") }

    private func text(_ name: String) -> String? {
        guard let message = Self.answer(flow), let found = try? JSONValue.member(name, of: Array(message.body).span),
            let text = found.text, !text.isEmpty
        else { return nil }
        return AskedCallback.cut(text, Self.mostText)
    }

    /// Why AM refused, in its own words; nil where it did not.
    public var reason: String? {
        switch ending {
        case .fails: return flow.text(.proxyError) ?? "no answer came"
        case .refuses: return refusal
        case .asks, .suspends, .succeeds, .unread: return nil
        }
    }

    private var refusal: String {
        guard let message = Self.answer(flow) else { return "no answer came" }
        guard let body = try? JSONValue(parsing: Array(message.body)), body.members != nil else {
            return "\(message.status), and no JSON"
        }
        let words = ["message", "errorMessage", "reason"].lazy.compactMap { body[$0]?.text }.first { !$0.isEmpty }
        let code = body["detail"]?["errorCode"] ?? body["errorCode"]
        let number = code?.text ?? code?.integer.map(String.init)
        let numbers = number.map { "\(message.status), \($0)" } ?? "\(message.status)"
        return words.map { "\(AskedCallback.cut($0, Self.mostText)) (\(numbers))" } ?? numbers
    }

    /// AM's answer as it came.
    static func answer(_ flow: PackedFlow) -> FlowMessage? {
        FlowMessage(flow, .answer) ?? FlowMessage(flow, .response)
    }

    /// The request as AM got it.
    static func request(_ flow: PackedFlow) -> FlowMessage? {
        FlowMessage(flow, .sent) ?? FlowMessage(flow, .request)
    }
}
