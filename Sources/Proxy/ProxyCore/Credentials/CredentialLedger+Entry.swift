import Authorization

/// What the ledger knows of one key.
extension CredentialLedger {
    struct Fetch: Sendable {
        let number: Int
        let owner: Key.Owner
        /// The time up to which others wait for it.
        var until: Int
        /// Something ended that its result may depend on.
        var isVoid = false
    }

    struct Entry: Sendable {
        var kept: Kept?
        /// The expired credential, if it helps to get a new one.
        var past: Value?
        /// The fetch that is under way.
        var fetch: Fetch?
        /// The last failed fetch.
        var failure: (number: Int, fault: LoginFault, until: Int)?
        /// The time up to which a credential that ends soon is not replaced, after a replacement failed.
        var heldOff = 0
        /// Resources that refused a new credential, each with the time up to which nothing is renewed for it.
        var fruitless: [Int: Int] = [:]
        /// The time of the last request for it, or of its last change.
        var lastUsed = 0

        /// The credential, expired or not.
        var value: Value? { kept?.value ?? past }

        func isValid(_ kept: Kept, _ key: Key, _ now: Now) -> Bool { !kept.isVoid && kept.value.lasts(key, at: now) }

        /// The credential if it is valid, not due and not in doubt.
        func atHand(_ key: Key, _ now: Now) -> Kept? {
            guard fruitless.isEmpty, let kept, isValid(kept, key, now), !kept.value.isDue(key, at: now) else {
                return nil
            }
            return kept
        }

        /// Nothing in it is of use any more.
        func isIdle(_ key: Key, _ now: Now) -> Bool {
            let time = now.milliseconds
            guard fetch == nil, past == nil, heldOff <= time, (failure?.until ?? 0) <= time,
                fruitless.values.allSatisfy({ $0 <= time })
            else { return false }
            return kept.map { !isValid($0, key, now) && !$0.value.renews } ?? true
        }

        mutating func end() {
            if let kept, kept.value.renews { past = kept.value }
            kept = nil
        }

        mutating func change(_ body: (inout Value) -> Void) {
            kept.change { body(&$0.value) }
            past.change { body(&$0) }
        }
    }
}
