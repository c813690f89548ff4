import Authorization

/// A login that was permitted. It is counted as under way until it is judged, or forgotten by whatever ends the exchange:
/// an object, so that no way out can leave it counted for ever.
final class LoginAttempt {
    private enum Stage {
        case begun, told
        /// AM was told answers, and goes on when a person has spoken. It may have refused them by that very page.
        case waiting
        case granted, judged
    }

    private let store: any LoginStore
    private let key: Lockout.Key
    private let limits: Lockout.Limits
    private var stage = Stage.begun

    init(_ store: any LoginStore, _ key: Lockout.Key, _ limits: Lockout.Limits) {
        self.store = store
        self.key = key
        self.limits = limits
    }

    /// AM is told answers. From here on it may count a failure, whether or not it gets to say so.
    func tell() { stage = .told }

    /// A person is asked: nobody waits for this one's turn meanwhile.
    func wait() {
        switch stage {
        case .begun: judge(.unjudged)
        case .told:
            store.grant(key, limits)
            stage = .waiting
        case .waiting, .granted, .judged: break
        }
    }

    /// Its turn is over, or not come again; it has to ask for one before AM is told more.
    var needsTurn: Bool { stage == .waiting || stage == .judged }

    /// The person has spoken.
    /// - Returns: nil where it is over, and another one has to begin.
    func goOn() -> LoginPermission? {
        guard stage == .waiting else { return nil }
        let permission = store.begin(again: key, limits)
        if case .go = permission { stage = .told }
        return permission
    }

    /// AM reports success. For a transaction that means nothing yet, and without answers it tells nothing about them
    /// (docs/protocol.md#how-it-ends).
    func grant() {
        switch stage {
        case .told: store.grant(key, limits)
        case .waiting: break
        case .begun, .granted, .judged: return judge(.unjudged)
        }
        stage = .granted
    }

    /// A refused upgrade is a 401; how a transaction went only the resource tells.
    func grant(by advice: Advice) {
        grant()
        if !advice.isTransaction { judge(.taken) }
    }

    var isGranted: Bool { stage == .granted }

    func judge(_ verdict: Lockout.Verdict) {
        guard stage != .judged else { return }
        // what AM was not told it cannot have refused
        store.end(
            key, stage == .begun ? .unjudged : verdict, granted: stage == .granted || stage == .waiting, limits)
        stage = .judged
    }

    deinit {
        judge(stage == .told || stage == .waiting ? .refused : .unjudged)
    }
}
