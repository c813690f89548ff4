import Authorization
import Interception

/// One exchange's part in a shared upgrade: one exchange makes the upgrade, and all get the new session.
final class UpgradeSharing {
    enum Turn {
        /// This exchange makes the upgrade.
        case go
        /// Another exchange makes the upgrade.
        case wait(FlightTicket)
        case has(StepUp.Outcome)
        /// The upgrade failed for another exchange, and would fail here too.
        case failed(String)
    }

    private enum Stage {
        case apart
        case waits(Flight<SharedUpgrade>)
        case leads(Flight<SharedUpgrade>)
        /// The exchange uses an earlier upgrade; the resource has yet to accept it.
        case has(StepUp.Outcome)
    }

    private var stage = Stage.apart
    /// The exchange has used an earlier upgrade once.
    private var hasBeenServed = false

    /// - Parameters:
    ///   - client: the client that asks; upgrades are shared only with itself.
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

    /// The flight that others may wait for; nil if this exchange makes no shared upgrade.
    var led: Flight<SharedUpgrade>? { if case .leads(let flight) = stage { flight } else { nil } }

    /// Others wait for this exchange's upgrade.
    var isAwaited: Bool { led?.isAwaited == true }

    /// AM granted the upgrade.
    func won(_ outcome: StepUp.Outcome, of session: String, mark: Int) {
        guard let led else { return }
        led.win(outcome, of: session, mark: mark)
        stage = .apart
    }

    /// AM, or a person, refused the upgrade, so the others fail as well.
    func fail(_ reason: String) {
        led?.fail(reason, for: 0)
        stage = .apart
    }

    /// Gives up the flight; another exchange that waits continues.
    func leave() { stage = .apart }

    /// The resource asks again. True if that only means that the earlier upgrade was not enough; this is so once an exchange.
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
    ///   - session: the session before the upgrade.
    ///   - mark: of that session (`SharedUpgrade.mark`).
    func win(_ outcome: StepUp.Outcome, of session: String, mark: Int) {
        // without a new session, later requests have nothing to use
        win(
            SharedUpgrade(outcome, of: session, mark: mark), due: SharedUpgrade.memory,
            lasts: outcome.session == nil ? 0 : SharedUpgrade.memory)
    }
}
