import Authorization
import HTTPCodec
import Interception

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

    func headCame(_ head: inout ResponseHead, _ context: inout FilterContext) {
        for member in members { _ = member.response(.head, &head, &context) }
    }

    /// The most bytes of the response's body to hold before the filters decide; nil to hold nothing.
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
