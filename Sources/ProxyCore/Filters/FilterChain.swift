import Authorization
import HTTPCodec
import Interception

/// The filters of one exchange. Each looks at what comes in its turn; while one has something under way, the others wait.
final class FilterChain {
    private var members: [any Filter]
    /// By what AM is asked before the request goes out, whatever became of it; nil where it is not.
    let enforcing: AuthorizationPolicy?

    init(_ members: [any Filter], enforcing: AuthorizationPolicy? = nil) {
        self.members = members
        self.enforcing = enforcing
    }

    /// Those that only the whole request tells come last.
    func add(_ later: [any Filter]) { members += later }

    // MARK: what is under way

    /// A call or a wait is under way, or a response is kept.
    var isHolding: Bool { members.contains { $0.hold != nil } }
    var keepsResponse: Bool { members.contains { $0.hold?.keepsResponse == true } }
    var endsWithClient: Bool { members.contains { $0.hold?.endsWithClient == true } }
    var keptBytes: Int { members.reduce(0) { $0 + ($1.hold?.bytes ?? 0) } }
    /// When that must be over.
    var limit: Int? { members.compactMap { $0.hold?.limit }.min() }
    var cookieLines: [String] { members.flatMap(\.cookieLines) }

    // MARK: the request

    /// - Returns: what has to be done before the request goes out; nil where nothing has.
    func ready(_ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction? {
        for member in members {
            let action = member.request(.ready, &head, &context)
            if case .proceed = action { continue }
            return settled(action, by: member)
        }
        return nil
    }

    func leaving(_ head: inout RequestHead, _ context: inout FilterContext) {
        for member in members { _ = member.request(.leaving, &head, &context) }
    }

    // MARK: the response

    func headCame(_ head: inout ResponseHead, _ context: inout FilterContext) {
        for member in members { _ = member.response(.head, &head, &context) }
    }

    /// How much of a response has to be held until it is clear what becomes of it; nil where none of it.
    func holds(_ head: inout ResponseHead, _ context: inout FilterContext) -> Int? {
        var most: Int?
        for member in members {
            if case .hold(let limit) = member.response(.offered, &head, &context) {
                most = max(limit, most ?? limit)
            }
        }
        return most
    }

    func whole(_ response: HeldResponse, _ context: inout FilterContext) -> FilterAction {
        var delivered = response
        for member in members {
            var head = response.head
            switch member.response(.whole(response), &head, &context) {
            case .proceed: continue
            case .deliver(let other): delivered = other
            case let action: return settled(action, by: member)
            }
        }
        return .deliver(delivered)
    }

    func tooLarge(_ head: inout ResponseHead, _ context: inout FilterContext) {
        for member in members { _ = member.response(.tooLarge, &head, &context) }
    }

    // MARK: events

    /// - Returns: nil where there is nothing that it is for.
    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
        let holding = members.filter { $0.hold != nil }
        let active = holding.filter { $0.hold?.isActive == true }
        let concerned =
            switch event {
            // the time of one may have come while another has something under way
            case .woke: holding
            // what is under way is what it is about; else what somebody had sent again
            case .answered, .failed: active.isEmpty ? holding : active
            }
        for member in concerned {
            if let action = member.event(event, &context) { return settled(action, by: member) }
        }
        return nil
    }

    func end(_ end: FilterEnd) { for member in members { member.end(end) } }

    /// Where one decides what the client gets, nobody else's affair goes on.
    private func settled(_ action: FilterAction, by decider: any Filter) -> FilterAction {
        switch action {
        case .deliver, .giveBack, .refuse: for member in members where member !== decider { member.end(.decided) }
        case .call, .wait, .waitFor, .ask, .attempt, .again, .replace, .proceed, .hold: break
        }
        return action
    }
}
