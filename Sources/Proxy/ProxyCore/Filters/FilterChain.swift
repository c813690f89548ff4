import Authorization
import HTTPCodec

/// The filters of one exchange. Messages pass them in order; while one has a pending operation, the others wait.
final class FilterChain {
    private var members: [any Filter]
    /// The policy by which AM is asked before the request goes out, whatever the result; nil if AM is not asked.
    let enforcing: AuthorizationPolicy?

    init(_ members: [any Filter], enforcing: AuthorizationPolicy? = nil) {
        self.members = members
        self.enforcing = enforcing
    }

    /// Adds filters at the end, once the whole request is known.
    func add(_ later: [any Filter]) { members += later }

    // MARK: pending operations

    /// A call or a wait is pending, or a response is kept.
    var isHolding: Bool { members.contains { $0.hold != nil } }
    var keepsResponse: Bool { members.contains { $0.hold?.keepsResponse == true } }
    var endsWithClient: Bool { members.contains { $0.hold?.endsWithClient == true } }
    var keptBytes: Int { members.reduce(0) { $0 + ($1.hold?.bytes ?? 0) } }
    /// The earliest time at which a pending operation must be over.
    var limit: Int? { members.compactMap { $0.hold?.limit }.min() }
    var cookieLines: [String] { members.flatMap(\.cookieLines) }

    // MARK: the request

    /// - Returns: what to do before the request goes out; nil if there is nothing to do.
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

    /// - Returns: what the filters decide; `hold` with the most that one of them needs.
    func response(
        _ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext
    ) -> FilterAction {
        var joint = FilterAction.proceed
        for member in members {
            switch (member.response(step, &head, &context), joint) {
            case (.proceed, _): continue
            case (.hold(let limit), .hold(let other)): joint = .hold(upTo: max(limit, other))
            case (.hold(let limit), _): joint = .hold(upTo: limit)
            case (.deliver(let other), _): joint = .deliver(other)
            // only a whole response is decided on; each filter is told of the other steps
            case (let action, _): if case .whole = step { return settled(action, by: member) }
            }
        }
        return joint
    }

    // MARK: events

    /// - Returns: nil if the event is for no filter.
    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
        let holding = members.filter { $0.hold != nil }
        let active = holding.filter { $0.hold?.isActive == true }
        let concerned =
            switch event {
            // one filter's time may pass while another has a pending operation
            case .woke: holding
            // a pending operation owns the event; without one, the filter that repeated the request does
            case .answered, .failed: active.isEmpty ? holding : active
            }
        for member in concerned {
            if let action = member.event(event, &context) { return settled(action, by: member) }
        }
        return nil
    }

    func end(_ end: FilterEnd) { for member in members { member.end(end) } }

    /// Ends the other filters' operations if one filter has decided what the client gets.
    private func settled(_ action: FilterAction, by decider: any Filter) -> FilterAction {
        switch action {
        case .deliver, .giveBack, .refuse: for member in members where member !== decider { member.end(.decided) }
        case .call, .wait, .waitFor, .attempt, .again, .replace, .proceed, .hold: break
        }
        return action
    }
}
