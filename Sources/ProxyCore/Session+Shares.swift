import HTTPCodec
import Interception

/// What this connection may hold of the proxy.
extension Session {
    /// Said to a client whose connection is one too many.
    public static func answer(to refusal: ClientShares.Refusal) -> [UInt8] {
        switch refusal {
        case .all: tooManyConnections
        case .client: tooManyOfClient
        }
    }

    private static let tooManyConnections = refused(
        .tooManyConnections("there are as many connections as limits.connections allows"))
    private static let tooManyOfClient = refused(.tooManyOfClient("this address"))

    private static func refused(_ error: ProxyError) -> [UInt8] {
        var out = Outbox()
        OwnAnswer.write(error, flow: 0, to: RequestHead(), closing: true, into: &out)
        return out.client
    }

    /// The client has shown whose password it has. False where that user was refused.
    mutating func isCounted(_ user: String, _ out: inout Outbox) -> Bool {
        guard let seat, !seat.becomes(.user(user), engine.settings.limits) else { return true }
        answerLast(.tooManyOfClient("the user \(user)"), &out)
        return false
    }

    /// Answers in the origin's place, and closes.
    mutating func answerLast(_ error: ProxyError, _ out: inout Outbox) {
        phase = .exchanging
        closesAfter = true
        answer(error, &out)
    }

    /// Whether there is room for what this exchange keeps by now.
    func mayKeep() -> Bool {
        guard let seat else { return true }
        let kept = body.count + (held?.body.count ?? 0) + (stepUp?.original?.body.count ?? 0)
        return seat.hold(kept, engine.settings.limits)
    }

    /// The beginning of a body that is not kept has gone out: nobody asks for it again.
    mutating func dropBody() {
        body = []
        seat?.letGo()
    }
}
