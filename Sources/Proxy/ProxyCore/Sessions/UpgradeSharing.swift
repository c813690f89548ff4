import Authorization
import Interception

/// One exchange's part in a shared upgrade: one exchange makes the upgrade, and all get the new session.
final class UpgradeSharing {
    enum Decision {
        /// This exchange makes the upgrade.
        case go
        /// Another exchange makes the upgrade.
        case wait(WaitingTicket, until: Int)
        case has(StepUp.Outcome)
        /// The upgrade failed for another exchange, and would fail here too.
        case failed(String)
    }

    private enum Stage {
        case apart
        case waits(CredentialWait<SharedUpgrade>)
        case makes(CredentialFetch<SharedUpgrade>)
        /// The exchange uses an earlier upgrade; the resource has yet to accept it.
        case has(StepUp.Outcome)
    }

    private var stage = Stage.apart
    /// The exchange has used an earlier upgrade once.
    private var hasBeenServed = false

    /// - Parameters:
    ///   - client: the client that asks; upgrades are shared only with itself.
    ///   - mark: of the session (`SharedUpgrade.mark`).
    func decide(
        _ machine: StepUp, client: String, mark: Int, _ store: (any CredentialStore<SharedUpgrade>)?,
        _ context: inout FilterContext
    ) -> Decision {
        if case .makes = stage { return .go }
        guard let store, let material = machine.sharedMaterial(client: client) else {
            stage = .apart
            return .go
        }
        let key = UpgradeKey(material, client: client, mark: mark)
        var wait: CredentialWait<SharedUpgrade>?
        if case .waits(let past) = stage { wait = past }
        stage = .apart
        switch CredentialStep(key, from: store, waited: wait, context.time) {
        case .use(let kept):
            guard wait == nil else {
                context.note(.conversation("the upgrade that was waited for is granted"))
                return .has(kept.value.outcome)
            }
            stage = .has(kept.value.outcome)
            context.note(.conversation("another request had this session upgraded a moment ago; AM is not asked again"))
            return .has(kept.value.outcome)
        case .fetch(let fetch):
            stage = .makes(fetch)
            if wait != nil {
                context.note(
                    .conversation("the upgrade that was waited for came to nothing; this request goes on with it"))
            }
            return .go
        case .wait(let next):
            stage = .waits(next)
            if wait == nil {
                context.note(
                    .conversation("another request has begun this upgrade of the session; this one waits for it"))
            }
            return .wait(next.ticket, until: next.until)
        case .failed(let fault):
            context.note(.conversation("the upgrade that was waited for came to nothing"))
            return .failed(fault.reason)
        case .full: return .go
        }
    }

    /// The upgrade that others may wait for; nil if this exchange makes no shared one.
    var made: CredentialFetch<SharedUpgrade>? { if case .makes(let fetch) = stage { fetch } else { nil } }

    /// Others wait for this exchange's upgrade.
    var isAwaited: Bool { made?.isAwaited == true }

    /// AM granted the upgrade.
    func won(_ outcome: StepUp.Outcome, of session: String, _ now: LoginTime) {
        guard let made else { return }
        made.win(outcome, of: session, now)
        stage = .apart
    }

    /// AM, or a person, refused the upgrade, so the others fail as well.
    func fail(_ reason: String, _ now: LoginTime) {
        made?.fail(LoginFault(reason: reason, isRefusal: false), now)
        stage = .apart
    }

    /// Gives up the upgrade; another exchange that waits continues.
    func leave() { stage = .apart }

    /// The resource asks again. True if that only means that the earlier upgrade was not enough; this is so once an exchange.
    func isOutdated(_ store: (any CredentialStore<SharedUpgrade>)?) -> Bool {
        guard case .has(let outcome) = stage else { return false }
        stage = .apart
        store?.change { $0.void { $0.outcome == outcome } }
        defer { hasBeenServed = true }
        return !hasBeenServed
    }
}

extension CredentialFetch<SharedUpgrade> {
    /// - Parameter session: the session before the upgrade.
    func win(_ outcome: StepUp.Outcome, of session: String, _ now: LoginTime) {
        win(SharedUpgrade(outcome, of: session, mark: key.mark, now: now.milliseconds), now)
    }
}
