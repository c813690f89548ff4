import Authorization

/// A login that this exchange makes for all. It is a class so that no way out can leave the others waiting.
final class LoginFlight<Gain: LoginGain> {
    private let store: any SharedLoginStore<Gain>
    private let key: Gain.Key
    let number: Int
    private var isOver = false

    init(_ store: any SharedLoginStore<Gain>, _ key: Gain.Key, _ number: Int) {
        self.store = store
        self.key = key
        self.number = number
    }

    @discardableResult
    func win(_ gain: Gain) -> SharedLogins<Gain>.Session {
        isOver = true
        return store.change {
            $0.won(gain, key, flight: number)
            return SharedLogins<Gain>.Session(gain: gain, generation: number, isDoubted: $0.isDoubted(key))
        }
    }

    func fail(_ fault: LoginFault, _ now: LoginTime) {
        isOver = true
        store.change { $0.failed(fault, key, flight: number, now) }
    }

    /// The login is late; the others stop waiting for it.
    func isLate(_ now: LoginTime) { store.change { $0.heldOff(key, now) } }

    /// Ends the login with an unknown result, and applies this change.
    func lose(_ change: (inout Gain) -> Void) {
        isOver = true
        store.change { $0.lost(key, flight: number, change) }
    }

    /// Lets the login continue after its exchange is gone, up to this time.
    func goesOn(until time: Int) { store.change { $0.goesOn(key, flight: number, until: time) } }

    deinit {
        if !isOver { store.change { $0.abandoned(key, flight: number) } }
    }
}
