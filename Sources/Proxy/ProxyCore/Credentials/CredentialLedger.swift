public import Authorization

/// The credentials that are kept, one for each key, and the fetches under way: one for all requests with the same need. It is a
/// value without clock or thread.
public struct CredentialLedger<Value: Credential>: Sendable {
    public typealias Key = Value.Key
    public typealias Now = LoginTime

    /// A credential as it is kept.
    public struct Kept: Sendable {
        public var value: Value
        /// Numbers the fetches; a change by a later response keeps the number.
        public let generation: Int
        /// Milliseconds of the monotonic clock.
        let since: Int
        /// It was void before it was here. Only those who waited for it get it.
        var isVoid = false
        /// This credential or its predecessor was refused, so the next response is of interest.
        public var isDoubted = false

        public init(_ value: Value, generation: Int, since: Int) {
            self.value = value
            self.generation = generation
            self.since = since
        }
    }

    public enum Answer: Sendable {
        case use(Kept)
        /// The caller fetches the credential, and reports the result under this number.
        case fetch(Int)
        /// Another request fetches it, or the owner has too many fetches under way.
        case wait(Int)
        case failed(LoginFault)
        /// All entries have fetches under way.
        case full
    }

    /// What a request waits for.
    public enum Obstacle: Hashable, Sendable {
        /// A fetch that is under way.
        case fetch(Key)
        /// A place among the owner's fetches, whose number is limited.
        case room(Key.Owner)
    }

    /// A report that a credential was refused.
    public struct Refusal: Sendable {
        let generation: Int
        /// A hash of the requested resource. A refusal that repeats counts for this resource alone, as any client can ask for it.
        let resource: Int

        public init(generation: Int, path: String) {
            self.generation = generation
            resource = path.hashValue
        }
    }

    /// The most fruitless resources of a key; the one that ends first is dropped.
    private static var mostFruitless: Int { 64 }
    /// Milliseconds beyond `hold`, as a fetch ends itself at `hold` and reports that first.
    private static var grace: Int { 1_000 }
    private static var sweepInterval: Int { 1_000 }
    /// Milliseconds for which an idle entry stays, so that all who waited find its result.
    private static var memory: Int { 10_000 }

    var entries: [Key: Entry] = [:]
    /// The number of fetches under way for each owner.
    private var underWay: [Key.Owner: Int] = [:]
    private var fetches = 0
    /// Fetches that ended, with any result, since the last `takeEnded`.
    private var ended: [Key] = []
    /// Keys whose credential changed since the last `takeChanges`; nil while changes are not recorded.
    var changed: Set<Key>?
    private var nextSweep = 0

    public init() {}

    /// Decides what a request does that needs this credential.
    /// - Parameters:
    ///   - refusal: of a credential that no longer works, whatever its own lifetime says.
    ///   - fetch: the one that the request waited for.
    public mutating func ask(
        _ key: Key, after refusal: Refusal?, waited fetch: Int?, _ now: Now
    ) -> Answer {
        // the fast path of nearly every request: it reads nothing else of the entry
        if refusal == nil, let index = entries.index(forKey: key), let kept = entries.values[index].atHand(key, now) {
            entries.values[index].lastUsed = now.milliseconds
            return .use(kept)
        }
        sweep(now)
        guard entries[key] != nil || makeRoom() else { return .full }
        var entry = open(key, now)
        defer { entries[key] = entry }
        var isDoubted = false
        if let refusal, let kept = entry.kept, kept.generation == refusal.generation,
            now.milliseconds - kept.since >= Value.youth
        {
            if Self.isFruitless(entry, refusal, now) {
                return .failed(LoginFault(reason: Value.notAgain, isRefusal: true))
            }
            if Value.endsByRefusal { entry.end() } else { isDoubted = true }
        }
        // a credential that was waited for is new, however short its life is
        func isNew(_ kept: Kept) -> Bool { fetch.map { kept.generation >= $0 } ?? false }
        // those who waited for a void one may still come for it
        if let kept = entry.kept, !kept.isVoid, !entry.isValid(kept, key, now) { entry.end() }
        let hasFailed = entry.failure.map { failure in fetch.map { failure.number >= $0 } ?? false } ?? false

        if var kept = entry.kept, !kept.isVoid || isNew(kept), !(isDoubted && hasFailed) {
            let isDue = isDoubted || kept.value.isDue(key, at: now)
            let isLeft = entry.heldOff > now.milliseconds || entry.fetch != nil && !isDoubted
            kept.isDoubted = !entry.fruitless.isEmpty
            if !isDue || isLeft || isNew(kept) { return .use(kept) }
        }
        if let failure = entry.failure {
            if hasFailed || failure.until > now.milliseconds { return .failed(failure.fault) }
        }
        if let fetch = entry.fetch { return .wait(fetch.number) }
        if underWay[key.owner, default: 0] >= Value.mostUnderWay {
            // an existing credential is used until its end; otherwise the request waits for the next fetch to begin
            return valid(entry, key, now).map { .use($0) } ?? .wait(fetches + 1)
        }
        return .fetch(startFetch(&entry, key, now))
    }

    /// The event that a request waits for after `wait`, and the latest time to ask again.
    public func obstacle(_ key: Key) -> (what: Obstacle, until: Int) {
        guard let fetch = entries[key]?.fetch else { return (.room(key.owner), .max) }
        return (.fetch(key), fetch.until + 1)
    }

    /// Fetches that ended since the last call.
    public mutating func takeEnded() -> [Key] {
        guard !ended.isEmpty else { return [] }
        defer { ended = [] }
        return ended
    }

    private mutating func sweep(_ now: Now) {
        guard now.milliseconds >= nextSweep else { return }
        nextSweep = now.milliseconds + Self.sweepInterval
        for (key, entry) in entries where entry.lastUsed + Self.memory <= now.milliseconds && entry.isIdle(key, now) {
            entries[key] = nil
            if entry.kept != nil { changed?.insert(key) }
        }
    }

    private mutating func open(_ key: Key, _ now: Now) -> Entry {
        if entries[key] == nil { _ = makeRoom() }
        var entry = entries[key] ?? Entry()
        entry.lastUsed = now.milliseconds
        // nothing waits for a fetch that hung
        if let fetch = entry.fetch, now.milliseconds > fetch.until { finish(&entry, key) }
        return entry
    }

    private mutating func startFetch(_ entry: inout Entry, _ key: Key, _ now: Now) -> Int {
        fetches += 1
        underWay[key.owner, default: 0] += 1
        entry.fetch = Fetch(number: fetches, owner: key.owner, until: now.milliseconds + key.hold + Self.grace)
        return fetches
    }

    private mutating func finish(_ entry: inout Entry, _ key: Key) {
        guard let fetch = entry.fetch else { return }
        entry.fetch = nil
        ended.append(key)
        let left = underWay[fetch.owner, default: 1] - 1
        underWay[fetch.owner] = left > 0 ? left : nil
    }

    // MARK: the end of a fetch

    /// Stores a fetched credential.
    /// - Returns: false if the fetch no longer counts.
    @discardableResult
    public mutating func won(_ value: Value, _ key: Key, fetch: Int, _ now: Now) -> Bool {
        guard var entry = entries[key], let own = entry.fetch, own.number == fetch else { return false }
        finish(&entry, key)
        entry.failure = nil
        entry.past = nil
        entry.lastUsed = now.milliseconds
        var kept = Kept(value, generation: fetch, since: now.milliseconds)
        kept.isVoid = own.isVoid || !value.isKept
        entry.kept = kept
        entries[key] = entry
        changed?.insert(key)
        return true
    }

    /// Fails a fetch for all that wait for it.
    /// - Parameter pause: milliseconds without another one; nil for the key's `coolDown` after a refusal.
    public mutating func failed(_ fault: LoginFault, _ key: Key, fetch: Int, pause: Int? = nil, _ now: Now) {
        guard var entry = entries[key], entry.fetch?.number == fetch else { return }
        finish(&entry, key)
        let time = now.milliseconds
        entry.lastUsed = time
        entry.failure = (fetch, fault, pause.map { time + $0 } ?? (fault.isRefusal ? time + key.coolDown : 0))
        entry.heldOff = time + (pause ?? key.coolDown)
        entries[key] = entry
    }

    /// The fetch was given up; the next request starts another.
    public mutating func abandoned(_ key: Key, fetch: Int) {
        guard var entry = entries[key], entry.fetch?.number == fetch else { return }
        finish(&entry, key)
        entries[key] = entry
    }

    /// Ends a fetch with an unknown result, and applies this change.
    public mutating func lost(_ key: Key, fetch: Int, _ body: (inout Value) -> Void) {
        guard entries[key]?.fetch?.number == fetch else { return }
        change(key, body)
        abandoned(key, fetch: fetch)
    }

    /// Lets a fetch continue without its exchange, up to this time.
    public mutating func goesOn(_ key: Key, fetch: Int, until time: Int) {
        guard var entry = entries[key], entry.fetch?.number == fetch else { return }
        entry.fetch.change { $0.until = time }
        entries[key] = entry
    }

    /// A fetch is late: the credential that ends soon is used meanwhile, and no other request waits.
    public mutating func heldOff(_ key: Key, _ now: Now) {
        entries[key]?.heldOff = now.milliseconds + key.coolDown
    }

    // MARK: refusals by resources

    /// Notes that a new credential was refused too, so the refusal has another cause than the old one's end.
    public mutating func fruitless(_ key: Key, _ refusal: Refusal, _ now: Now) {
        guard var entry = entries[key], entry.kept?.generation == refusal.generation else { return }
        Self.note(refusal, &entry, key, now)
        entries[key] = entry
    }

    private static func note(_ refusal: Refusal, _ entry: inout Entry, _ key: Key, _ now: Now) {
        entry.fruitless = entry.fruitless.filter { $0.value > now.milliseconds }
        if entry.fruitless.count >= mostFruitless, let first = entry.fruitless.min(by: { $0.value < $1.value }) {
            entry.fruitless[first.key] = nil
        }
        entry.fruitless[refusal.resource] = now.milliseconds + key.coolDown
    }

    private static func isFruitless(_ entry: Entry, _ refusal: Refusal, _ now: Now) -> Bool {
        entry.fruitless[refusal.resource].map { $0 > now.milliseconds } ?? false
    }

    /// Notes that the resource accepted the credential after a refusal.
    public mutating func taken(_ key: Key, _ refusal: Refusal) { entries[key]?.fruitless[refusal.resource] = nil }

    /// Drops a refused credential; the next request fetches another. Until that is accepted, the same resource cannot cause
    /// another fetch.
    /// - Returns: false if the credential stays, as a new one had been refused as well.
    public mutating func drop(_ key: Key, _ refusal: Refusal, _ now: Now) -> Bool {
        guard var entry = entries[key], entry.kept?.generation == refusal.generation else { return true }
        if Self.isFruitless(entry, refusal, now) { return false }
        Self.note(refusal, &entry, key, now)
        entry.end()
        entries[key] = entry
        return true
    }

    /// Changes the credential by an ordinary response.
    /// - Parameter generation: of the credential that the request carried.
    public mutating func renewed(_ key: Key, generation: Int, _ change: (inout Value) -> Void) {
        guard entries[key]?.kept?.generation == generation else { return }
        entries[key]?.change(change)
    }

    /// Changes the credential.
    public mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
        entries[key]?.change(body)
        changed?.insert(key)
    }

    /// Puts another credential in the place of the kept one. A refusal of the old one does not count for it.
    public mutating func replace(_ key: Key, by value: Value) -> Kept? {
        guard var entry = entries[key], let old = entry.kept else { return nil }
        fetches += 1
        let kept = Kept(value, generation: fetches, since: old.since)
        entry.kept = kept
        entries[key] = entry
        changed?.insert(key)
        return kept
    }

    // MARK: what is kept

    public var count: Int { entries.count }

    /// The fetches under way.
    public var fetching: Int { underWay.values.reduce(0, +) }

    /// The credential, expired or not.
    public func last(_ key: Key) -> Value? { entries[key]?.value }

    /// The valid credential for this key, due or not. It starts no fetch.
    func valid(_ key: Key, _ now: Now) -> Kept? { entries[key].flatMap { valid($0, key, now) } }

    private func valid(_ entry: Entry, _ key: Key, _ now: Now) -> Kept? {
        entry.kept.flatMap { entry.isValid($0, key, now) ? $0 : nil }
    }

    /// The credential that is kept for this key, due or not.
    public func kept(_ key: Key) -> Kept? { entries[key]?.kept }

    /// The first valid credential that the test holds of.
    public func first(_ now: Now, where isIt: (Value) -> Bool) -> Value? {
        for (key, entry) in entries {
            if let kept = entry.kept, entry.isValid(kept, key, now), isIt(kept.value) { return kept.value }
        }
        return nil
    }

    /// A key that the test holds of and that a fetch is under way for.
    public func fetched(where isIt: (Key) -> Bool) -> Key? {
        entries.first { $0.value.fetch != nil && isIt($0.key) }?.key
    }

    /// This credential or its predecessor was refused.
    func isDoubted(_ key: Key) -> Bool { entries[key]?.fruitless.isEmpty == false }

    /// The key has a credential, a failure or a fetch under way.
    func knows(_ key: Key) -> Bool { entries[key] != nil }

    // MARK: credentials from elsewhere

    /// Stores a credential from elsewhere, and ends a fetch that is under way.
    public mutating func put(_ value: Value, _ key: Key, _ now: Now) {
        var entry = open(key, now)
        finish(&entry, key)
        fetches += 1
        entry = Entry()
        entry.kept = Kept(value, generation: fetches, since: now.milliseconds)
        entry.lastUsed = now.milliseconds
        entries[key] = entry
        changed?.insert(key)
    }

    /// Reserves the key for a fetch that happens elsewhere.
    /// - Returns: `fetch` if no other one is under way, else `wait`.
    public mutating func claim(_ key: Key, _ now: Now) -> Answer {
        var entry = open(key, now)
        defer { entries[key] = entry }
        if let fetch = entry.fetch { return .wait(fetch.number) }
        return .fetch(startFetch(&entry, key, now))
    }

    // MARK: ends

    /// Ends the credential; it may still help to get a new one.
    public mutating func end(_ key: Key, _ change: (inout Value) -> Void = { _ in }) {
        guard var entry = entries[key] else { return }
        entry.end()
        entry.change(change)
        entries[key] = entry
        changed?.insert(key)
    }

    /// Drops the credentials that the test holds of. Those who wait for a fetch under way get its result, and nobody else does.
    public mutating func void(_ isMeant: (Value) -> Bool) {
        for (key, entry) in entries {
            var entry = entry
            entry.fetch.change { $0.isVoid = true }
            entries[key] = entry
            if let value = entry.value, isMeant(value) { end(key) }
        }
    }

    /// Drops entries, with the results of their fetches under way.
    /// - Parameter isMeant: gets the credential, if there is one.
    /// - Returns: the dropped credentials.
    @discardableResult
    public mutating func forget(_ isMeant: (Key, Value?) -> Bool) -> [(key: Key, value: Value)] {
        let meant = entries.filter { isMeant($0.key, $0.value.value) }
        for (key, found) in meant {
            var entry = found
            finish(&entry, key)
            entries[key] = nil
            changed?.insert(key)
        }
        return meant.compactMap { key, entry in entry.value.map { (key, $0) } }
    }

    public mutating func forget(_ key: Key) {
        guard var entry = entries[key] else { return }
        finish(&entry, key)
        entries[key] = nil
        changed?.insert(key)
    }

    // MARK: changes to store

    /// Starts recording changes for `takeChanges`.
    public mutating func noteChanges() { changed = changed ?? [] }

    /// Records a change beside the credential.
    mutating func touch(_ key: Key) { changed?.insert(key) }

    /// Keys whose credential changed since the last call.
    public mutating func takeChanges() -> Set<Key> {
        guard let keys = changed, !keys.isEmpty else { return [] }
        changed = []
        return keys
    }
}
