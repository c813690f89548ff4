internal import Formats

/// AM's response to one call of a login.
public enum JourneyEnding: CaseIterable, Sendable {
    /// A step that asks for more.
    case asks
    /// It continues through a mailed link.
    case suspends
    case succeeds
    case refuses
    /// No response.
    case fails
    /// Too little of the response is stored.
    case unread
}

/// One authenticate call of a journey with AM's response.
public struct JourneyStep: Sendable {
    public let flow: PackedFlow
    public let ending: JourneyEnding
    /// True if the same `authId` was sent before and AM did not issue it again since.
    public let isRepeated: Bool
    /// Milliseconds since the end of the previous call, spent by the person or the app.
    public let pause: Int
    let sent: SecretAlias?
    let given: SecretAlias?

    /// The time at AM in milliseconds, from the sending of the request on.
    public var atServer: Int {
        let duration = max(0, flow[.duration])
        return duration - min(duration, flow.time(.sent) ?? 0)
    }

    /// Milliseconds since 1970.
    var end: Int { flow[.began] + max(0, flow[.duration]) }

    // MARK: AM's response

    private static let mostText = 200

    /// The stage of the tree's page, for apps.
    public var stage: String? { text("stage") }
    public var header: String? { text("header") }

    private func text(_ name: String) -> String? {
        guard let message = Self.answer(flow), let found = try? JSONValue.member(name, of: Array(message.body).span),
            let text = found.text, !text.isEmpty
        else { return nil }
        return AskedCallback.cut(text, Self.mostText)
    }

    /// AM's reason for a refusal or the proxy error; nil if neither applies.
    public var reason: String? {
        switch ending {
        case .fails: return flow.text(.proxyError) ?? "no response"
        case .refuses: return refusal
        case .asks, .suspends, .succeeds, .unread: return nil
        }
    }

    private var refusal: String {
        guard let message = Self.answer(flow) else { return "no response" }
        guard let body = try? JSONValue(parsing: Array(message.body)), body.members != nil else {
            return "\(message.status), and no JSON"
        }
        let words = ["message", "errorMessage", "reason"].lazy.compactMap { body[$0]?.text }.first { !$0.isEmpty }
        let code = body["detail"]?["errorCode"] ?? body["errorCode"]
        let number = code?.text ?? code?.integer.map(String.init)
        let numbers = number.map { "\(message.status), \($0)" } ?? "\(message.status)"
        return words.map { "\(AskedCallback.cut($0, Self.mostText)) (\(numbers))" } ?? numbers
    }

    /// AM's response as received.
    static func answer(_ flow: PackedFlow) -> FlowMessage? {
        FlowMessage(flow, .answer) ?? FlowMessage(flow, .response)
    }

    /// The request as sent to AM.
    static func request(_ flow: PackedFlow) -> FlowMessage? {
        FlowMessage(flow, .sent) ?? FlowMessage(flow, .request)
    }
}
