import Interception

// The view of an exchange that interceptors get.

extension EditContext {
    /// - Parameter seconds: since 1970.
    init(request exchange: borrowing Exchange, at seconds: Int) {
        self.init(
            exchange.classification, state: exchange.phases.state, time: seconds,
            bodyLimit: exchange.engine.settings.limits.keptBody, chance: exchange.engine.chance,
            issuer: exchange.call?.issuer)
    }

    /// The context of the error phase, when no response came.
    init(failed exchange: borrowing Exchange, at seconds: Int) {
        self.init(request: exchange, at: seconds)
        sentBody = exchange.received.body.arrived(exchange.attempt.body)
    }

    /// The context of the response phase.
    init(response exchange: borrowing Exchange, at seconds: Int) {
        self.init(failed: exchange, at: seconds)
        if exchange.engine.plan.runsResponseCode { basis = exchange.basisHead }
    }
}
