import Authorization

/// A fetch that this exchange makes for all. It is a class so that no way out can leave the others waiting.
final class CredentialFetch<Value: Credential> {
    private let store: any CredentialStore<Value>
    let key: Value.Key
    let number: Int
    private var isOver = false

    init(_ store: any CredentialStore<Value>, _ key: Value.Key, _ number: Int) {
        self.store = store
        self.key = key
        self.number = number
    }

    /// Others wait for it.
    var isAwaited: Bool { store.isAwaited(key) }

    @discardableResult
    func win(_ value: Value, _ now: LoginTime) -> CredentialLedger<Value>.Kept {
        isOver = true
        return store.change {
            $0.won(value, key, fetch: number, now)
            var kept = CredentialLedger<Value>.Kept(value, generation: number, since: now.milliseconds)
            kept.isDoubted = $0.isDoubted(key)
            return kept
        }
    }

    /// - Parameter pause: milliseconds without another fetch; nil for the key's `coolDown` after a refusal.
    func fail(_ fault: LoginFault, pause: Int? = nil, _ now: LoginTime) {
        isOver = true
        store.change { $0.failed(fault, key, fetch: number, pause: pause, now) }
    }

    /// The fetch is late; the others stop waiting for it.
    func isLate(_ now: LoginTime) { store.change { $0.heldOff(key, now) } }

    /// Ends the fetch with an unknown result, and applies this change.
    func lose(_ change: (inout Value) -> Void) {
        isOver = true
        store.change { $0.lost(key, fetch: number, change) }
    }

    /// Lets the fetch continue after its exchange is gone, up to this time.
    func goesOn(until time: Int) { store.change { $0.goesOn(key, fetch: number, until: time) } }

    deinit {
        if !isOver { store.change { $0.abandoned(key, fetch: number) } }
    }
}
