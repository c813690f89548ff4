import Authorization

/// A login that is this exchange's to make. An object, so that no way out can leave the others waiting for it.
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

    /// Whoever waits for it does so no longer.
    func isLate(_ now: LoginTime) { store.change { $0.heldOff(key, now) } }

    /// It is over, and nobody knows what came of it but that.
    func lose(_ change: (inout Gain) -> Void) {
        isOver = true
        store.change { $0.lost(key, flight: number, change) }
    }

    /// It goes on, whoever made it is gone.
    func goesOn(until time: Int) { store.change { $0.goesOn(key, flight: number, until: time) } }

    deinit {
        if !isOver { store.change { $0.abandoned(key, flight: number) } }
    }
}
