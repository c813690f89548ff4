import HTTPCodec
import Interception

/// Adds the filters of an exchange, and asks them.
extension ExchangeInfo {
    /// Adds the filters that register for the request.
    /// - Returns: how many bytes of the request's body to keep for them.
    mutating func addFilters(
        at point: FilterRegistration.Point, _ attempt: borrowing Attempt, _ out: borrowing CommandBuffer
    ) -> Int {
        let setup = FilterSetup(self, attempt, at: point, out.seconds).added(by: engine.filters, at: point)
        state = setup.edits.state
        for event in setup.notes { log.tell(event, out.now) }
        if let filters {
            filters.add(setup.filters)
        } else if !setup.filters.isEmpty {
            filters = FilterChain(setup.filters, enforcing: setup.enforcing)
        }
        return setup.keep
    }

    /// Calls the filters and logs what they report.
    mutating func ask<Result>(
        _ attempt: borrowing Attempt, _ context: borrowing ClientContext, _ out: borrowing CommandBuffer,
        _ ask: (FilterChain, inout FilterContext) -> Result?
    ) -> Result? {
        guard let filters else { return nil }
        var surroundings = FilterContext(self, attempt, isOut: stage.awaitsResponse, context, out.time)
        let result = ask(filters, &surroundings)
        for event in surroundings.notes { log.tell(event, out.now) }
        return result
    }

    /// Whether there is room for the bytes of bodies that this exchange now keeps.
    func mayKeep(_ context: borrowing ClientContext, _ attempt: borrowing Attempt, beside more: Int = 0) -> Bool {
        guard let share = context.share else { return true }
        var kept = received.body.bytes.count + more + (filters?.keptBytes ?? 0) + (attempt.body?.count ?? 0)
        if let call { kept += call.keptBytes }
        // bytes kept by a call add to those of its caller
        return share.hold(kept, of: calling?.caller ?? id, engine.settings.limits)
    }
}
