import HTTPCodec
import Interception

/// A detour that has a request go out with what a login wins.
protocol LoginDetour: Detour {
    associatedtype Talk: LoginTalk

    var turn: LoginTurn<Talk> { get }
    /// Nil where nothing is wanted, or nobody keeps it.
    func wanted(_ context: DetourContext) -> LoginTurn<Talk>.Wanted?
    /// - Returns: nil where the request may go out.
    func conclude(
        _ outcome: LoginTurn<Talk>.Outcome, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder?
}

extension LoginDetour {
    /// Others may wait for the same login.
    var endsWithClient: Bool { false }
    var isActive: Bool { turn.isActive }
    var limit: Int? { turn.limit }
    var keepsResponse: Bool { turn.kept != nil }
    var keptBytes: Int { turn.kept?.body.count ?? 0 }
    var cookieLines: [String] { [] }

    /// What was wanted is there.
    func done(_ purpose: LoginTurn<Talk>.Purpose) -> DetourOrder? {
        switch purpose {
        case .send: nil
        case .renew(let held): .again(held)
        }
    }

    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        guard let wanted = wanted(context), let outcome = turn.called(response, wanted, context) else {
            return .deliver(response)
        }
        return conclude(outcome, context, &notes) ?? .proceed
    }

    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard let wanted = wanted(context), let outcome = turn.failed(reason, wanted, context) else { return nil }
        return conclude(outcome, context, &notes) ?? .proceed
    }

    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard isActive, let wanted = wanted(context), let outcome = turn.woke(wanted, context) else { return nil }
        return conclude(outcome, context, &notes) ?? .proceed
    }

    func abandon() { turn.rest() }
    func delivers(_ status: Int) {}
}
