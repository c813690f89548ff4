import Authorization
import HTTPCodec
import Interception

/// Several detours on the way of one exchange. Each looks at what comes in its turn; while one has something under way, the
/// others wait.
final class DetourChain: Detour {
    private let members: [any Detour]

    private init(_ members: [any Detour]) { self.members = members }

    /// - Returns: nil where there is none, and the one itself where there are no others.
    static func of(_ members: [any Detour]) -> (any Detour)? {
        members.count > 1 ? DetourChain(members) : members.first
    }

    var endsWithClient: Bool { members.contains { $0.endsWithClient } }
    var isActive: Bool { members.contains { $0.isActive } }
    var keepsResponse: Bool { members.contains { $0.keepsResponse } }
    var keptBytes: Int { members.reduce(0) { $0 + $1.keptBytes } }
    var maxResponseBytes: Int { members.map(\.maxResponseBytes).max() ?? 0 }
    var cookieLines: [String] { members.flatMap(\.cookieLines) }

    var enforcing: AuthorizationPolicy? { members.lazy.compactMap(\.enforcing).first }

    func provider(of server: AuthorizationServer) -> ProvidedSession? {
        members.lazy.compactMap { $0.provider(of: server) }.first
    }

    var limit: Int? { members.filter { $0.isActive || $0.keepsResponse }.compactMap(\.limit).min() }

    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        first(&notes) { $0.prepare(context, &$1) }
    }

    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        for member in members { member.edit(&head, context, &notes) }
    }

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        members.compactMap { $0.holds(response, to: request, sent: sent) }.max()
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        var order = DetourOrder.deliver(response)
        for member in members {
            order = member.consider(response, context, &notes)
            guard case .deliver = order else { return settled(order, by: member) }
        }
        return order
    }

    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        guard let active = members.first(where: { $0.isActive }) else { return .deliver(response) }
        return settled(active.called(response, context, &notes), by: active)
    }

    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        // what is under way is what failed; else it is what somebody had sent again
        let active = members.filter(\.isActive)
        for member in active.isEmpty ? members.filter(\.keepsResponse) : active {
            if let order = member.failed(reason, context, &notes) { return settled(order, by: member) }
        }
        return nil
    }

    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        for member in members where member.isActive || member.keepsResponse {
            if let order = member.woke(context, &notes) { return settled(order, by: member) }
        }
        return nil
    }

    func answered(_ response: inout ResponseHead, _ context: DetourContext) {
        for member in members { member.answered(&response, context) }
    }

    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        for member in members { member.unheld(response, context, &notes) }
    }

    func awaits(_ ticket: FlightTicket) -> Bool { members.contains { $0.awaits(ticket) } }
    func delivers(_ status: Int) { for member in members { member.delivers(status) } }
    func abandon() { for member in members { member.abandon() } }
    func cutShort() { for member in members { member.cutShort() } }

    private func first(
        _ notes: inout [ExchangeMoment], _ ask: (any Detour, inout [ExchangeMoment]) -> DetourOrder?
    ) -> DetourOrder? {
        for member in members {
            if let order = ask(member, &notes) { return settled(order, by: member) }
        }
        return nil
    }

    /// Where one decides what the client gets, nobody else's affair goes on.
    private func settled(_ order: DetourOrder, by decider: any Detour) -> DetourOrder {
        switch order {
        case .deliver, .giveBack, .refuse: for member in members where member !== decider { member.abandon() }
        case .call, .wait, .waitFor, .ask, .attempt, .again, .replace, .proceed: break
        }
        return order
    }
}
