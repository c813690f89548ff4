import Authorization
import Interception

/// One exchange's part in an upgrade that others may need at the same time: one of them makes it, all have the new session.
final class UpgradeSharing {
    enum Turn {
        /// The upgrade is this exchange's to make.
        case go
        /// Somebody makes it.
        case wait(FlightTicket)
        case has(StepUp.Outcome)
        /// It came to nothing for whoever made it, and would here.
        case failed(String)
    }

    private enum Stage {
        case apart
        case waits(Flight<SharedUpgrade>)
        case leads(Flight<SharedUpgrade>)
        /// It goes by what an earlier one won, of which the resource has yet to tell whether it suffices.
        case has(StepUp.Outcome)
    }

    private var stage = Stage.apart
    /// It has gone by an earlier one once.
    private var hasBeenServed = false

    /// - Parameters:
    ///   - client: who asks; nobody else's upgrade is shared.
    ///   - mark: of the session (`SharedUpgrade.mark`).
    func turn(
        _ machine: StepUp, client: String, mark: Int, _ store: (any FlightStore<SharedUpgrade>)?,
        _ context: inout FilterContext
    ) -> Turn {
        switch stage {
        case .leads: return .go
        case .waits(let flight): return look(flight, &context)
        case .apart, .has: break
        }
        stage = .apart
        guard let store, let material = machine.sharedMaterial(client: client) else { return .go }
        switch store.ask(material, mark: mark, refused: nil) {
        case .use(let known):
            stage = .has(known.outcome)
            context.note(.conversation("another request had this session upgraded a moment ago; AM is not asked again"))
            return .has(known.outcome)
        case .lead(let ticket, _):
            stage = .leads(Flight(ticket, store))
            return .go
        case .wait(let ticket):
            stage = .waits(Flight(ticket, store))
            context.note(.conversation("another request has begun this upgrade of the session; this one waits for it"))
            return .wait(ticket)
        case .failed, .alone: return .go
        }
    }

    private func look(_ flight: Flight<SharedUpgrade>, _ context: inout FilterContext) -> Turn {
        switch flight.look() {
        case .wait: return .wait(flight.ticket)
        case .lead:
            stage = .leads(flight)
            context.note(.conversation("the upgrade that was waited for came to nothing; this request goes on with it"))
            return .go
        case .use(let shared):
            stage = .apart
            context.note(.conversation("the upgrade that was waited for is granted"))
            return .has(shared.outcome)
        case .failed(let reason):
            stage = .apart
            context.note(.conversation("the upgrade that was waited for came to nothing"))
            return .failed(reason)
        }
    }

    /// Others may wait for what this exchange makes; nil where it makes nothing for them.
    var led: Flight<SharedUpgrade>? { if case .leads(let flight) = stage { flight } else { nil } }

    /// Others wait for what this exchange makes.
    var isAwaited: Bool { led?.isAwaited == true }

    /// AM granted what this exchange asked for.
    func won(_ outcome: StepUp.Outcome, of session: String, mark: Int) {
        guard let led else { return }
        led.win(outcome, of: session, mark: mark)
        stage = .apart
    }

    /// AM, or a person, will have none of it: nobody else asks for the same.
    func fail(_ reason: String) {
        led?.fail(reason, for: 0)
        stage = .apart
    }

    /// It came to nothing here, or is over. Somebody else of those who wait goes on with it.
    func leave() { stage = .apart }

    /// The resource asks again. True where that says no more than that what an earlier one won does not suffice: once in an
    /// exchange.
    func isOutdated(_ store: (any FlightStore<SharedUpgrade>)?) -> Bool {
        guard case .has(let outcome) = stage else { return false }
        stage = .apart
        store?.forget { $0.outcome == outcome }
        defer { hasBeenServed = true }
        return !hasBeenServed
    }
}

extension Flight<SharedUpgrade> {
    /// - Parameters:
    ///   - session: the one that was upgraded.
    ///   - mark: of that session (`SharedUpgrade.mark`).
    func win(_ outcome: StepUp.Outcome, of session: String, mark: Int) {
        // where the session stays there is nothing that whoever comes later could go by
        win(
            SharedUpgrade(outcome, of: session, mark: mark), due: SharedUpgrade.memory,
            lasts: outcome.session == nil ? 0 : SharedUpgrade.memory)
    }
}
