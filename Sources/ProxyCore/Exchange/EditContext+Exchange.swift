import Interception

// How an exchange looks to interceptors.

extension EditContext {
    /// - Parameter seconds: since 1970.
    init(request exchange: borrowing Exchange, at seconds: Int) {
        self.init(
            exchange.classification, state: exchange.phases.state, time: seconds,
            bodyLimit: exchange.engine.settings.limits.keptBody, chance: exchange.engine.chance,
            issuer: exchange.call?.issuer)
    }

    /// The same where no response came.
    init(failed exchange: borrowing Exchange, at seconds: Int) {
        self.init(request: exchange, at: seconds)
        sentBody = exchange.arrivedBody
    }

    /// The same in the response phase.
    init(response exchange: borrowing Exchange, at seconds: Int) {
        self.init(failed: exchange, at: seconds)
        if exchange.engine.plan.runsResponseCode { basis = exchange.basisHead }
    }
}
