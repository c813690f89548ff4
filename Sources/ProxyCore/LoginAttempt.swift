import Authorization

/// A login that was permitted. It is counted as under way until it is judged, or forgotten by whatever ends the exchange:
/// an object, so that no way out can leave it counted for ever.
final class LoginAttempt {
    private enum Stage { case begun, told, granted, judged }

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

    /// AM reports success. For a transaction that means nothing yet, and without answers it tells nothing about them
    /// (docs/protocol.md#how-it-ends).
    func grant() {
        guard stage == .told else { return judge(.unjudged) }
        store.grant(key, limits)
        stage = .granted
    }

    var isGranted: Bool { stage == .granted }

    func judge(_ verdict: Lockout.Verdict) {
        guard stage != .judged else { return }
        // what AM was not told it cannot have refused
        store.end(key, stage == .begun ? .unjudged : verdict, granted: isGranted, limits)
        stage = .judged
    }

    deinit {
        judge(stage == .told ? .refused : .unjudged)
    }
}
