public import Authorization

/// The results of logins, one for each key, and the logins under way: one for all requests with the same need. It is a value
/// without clock or thread.
public struct SharedLogins<Gain: LoginGain>: Sendable {
    public typealias Key = Gain.Key
    public typealias Now = LoginTime

    public struct Session: Sendable {
        public var gain: Gain
        /// Numbers the logins; a change by a later response keeps the number.
        public let generation: Int
        /// This result or its predecessor was refused, so the next response is of interest.
        public var isDoubted = false
    }

    public enum Answer: Sendable {
        case use(Session)
        /// The caller logs in, and reports the result under this number.
        case logIn(Int)
        /// Another request logs in, or the owner has too many logins under way.
        case wait(Int)
        case failed(LoginFault)
    }

    /// What a request waits for.
    public enum Obstacle: Hashable, Sendable {
        /// A login that is under way.
        case login(Key)
        /// A place among the owner's logins, whose number is limited.
        case room(Key.Owner)
    }

    /// A report that a result was refused.
    public struct Refusal: Sendable {
        let generation: Int
        /// A hash of the requested resource. A refusal that repeats counts for this resource alone, as any client can ask for it.
        let resource: Int

        public init(generation: Int, path: String) {
            self.generation = generation
            resource = path.hashValue
        }
    }

    struct Flight: Sendable {
        let number: Int
        let owner: Key.Owner
        /// The time up to which others wait for the login.
        var until: Int
    }

    struct Entry: Sendable {
        var session: Session?
        /// The expired result, if it helps to get a new one.
        var past: Gain?
        /// The login that is under way.
        var flight: Flight?
        /// The last failed login.
        var failure: (number: Int, fault: LoginFault, until: Int)?
        /// The time up to which a result that ends soon is not replaced, after a replacement failed.
        var heldOff = 0
        /// Resources that refused a new result, each with the time up to which nothing is renewed for it.
        var fruitless: [Int: Int] = [:]
        var lastAsked = 0

        /// The result, expired or not.
        var gain: Gain? { session?.gain ?? past }

        /// The result if it is valid, not due and not in doubt.
        func atHand(_ key: Key, _ now: Now) -> Session? {
            guard fruitless.isEmpty, let session, session.gain.lasts(key, until: now.seconds),
                !session.gain.isDue(key, at: now.seconds)
            else { return nil }
            return session
        }

        mutating func end() {
            if let session, session.gain.renews { past = session.gain }
            session = nil
        }

        mutating func change(_ body: (inout Gain) -> Void) {
            session.change { body(&$0.gain) }
            past.change { body(&$0) }
        }
    }

    /// The most fruitless resources of a key; the one that ends first is dropped.
    private static var mostFruitless: Int { 64 }
    /// Milliseconds beyond `hold`, as a login ends itself at `hold` and reports that first.
    private static var grace: Int { 1_000 }

    var entries: [Key: Entry] = [:]
    /// The number of logins under way for each owner.
    private var underWay: [Key.Owner: Int] = [:]
    private var flights = 0
    /// Logins that ended, with any result, since the last `takeLanded`.
    private var landed: [Key] = []
    /// Logins whose result changed since the last `takeChanges`; nil while changes are not recorded.
    var changed: Set<Key>?

    public init() {}

    /// Decides what a request does that needs this result.
    /// - Parameters:
    ///   - refusal: of a result that no longer works, whatever its own lifetime says.
    ///   - flight: the login that the request waited for.
    public mutating func ask(
        _ key: Key, after refusal: Refusal?, waited flight: Int?, _ now: Now
    ) -> Answer {
        // the fast path of nearly every request: it reads nothing else of the entry
        if refusal == nil, let index = entries.index(forKey: key),
            let session = entries.values[index].atHand(key, now)
        {
            entries.values[index].lastAsked = now.milliseconds
            return .use(session)
        }
        var entry = open(key, now)
        defer { entries[key] = entry }
        if let refusal, let session = entry.session, session.generation == refusal.generation {
            if Self.isFruitless(entry, refusal, now) {
                return .failed(LoginFault(reason: Gain.notAgain, isRefusal: true))
            }
            entry.end()
        }
        if let session = entry.session, !session.gain.lasts(key, until: now.seconds) { entry.end() }

        if var session = entry.session {
            let isDue = session.gain.isDue(key, at: now.seconds)
            // a result that was waited for is new, however short its life is
            let isNew = flight.map { session.generation >= $0 } ?? false
            session.isDoubted = !entry.fruitless.isEmpty
            if !isDue || isNew || entry.heldOff > now.milliseconds || entry.flight != nil { return .use(session) }
        }
        if let failure = entry.failure {
            if failure.until > now.milliseconds { return .failed(failure.fault) }
            if let flight, failure.number >= flight { return .failed(failure.fault) }
        }
        if let flight = entry.flight { return .wait(flight.number) }
        if underWay[key.owner, default: 0] >= Gain.mostUnderWay {
            // an existing result is used until its end; otherwise the request waits for the next login to begin
            return entry.session.map { .use($0) } ?? .wait(flights + 1)
        }
        return .logIn(begin(&entry, key, now))
    }

    /// The event that a request waits for after `wait`, and the latest time to ask again.
    public func obstacle(_ key: Key) -> (what: Obstacle, until: Int) {
        guard let flight = entries[key]?.flight else { return (.room(key.owner), .max) }
        return (.login(key), flight.until + 1)
    }

    /// Logins that ended since the last call.
    public mutating func takeLanded() -> [Key] {
        guard !landed.isEmpty else { return [] }
        defer { landed = [] }
        return landed
    }

    private mutating func open(_ key: Key, _ now: Now) -> Entry {
        if entries[key] == nil { makeRoom() }
        var entry = entries[key] ?? Entry()
        entry.lastAsked = now.milliseconds
        // nothing waits for a login that hung
        if let flight = entry.flight, now.milliseconds > flight.until { land(&entry, key) }
        return entry
    }

    private mutating func begin(_ entry: inout Entry, _ key: Key, _ now: Now) -> Int {
        flights += 1
        underWay[key.owner, default: 0] += 1
        entry.flight = Flight(number: flights, owner: key.owner, until: now.milliseconds + key.hold + Self.grace)
        return flights
    }

    private mutating func land(_ entry: inout Entry, _ key: Key) {
        guard let flight = entry.flight else { return }
        entry.flight = nil
        landed.append(key)
        let left = underWay[flight.owner, default: 1] - 1
        underWay[flight.owner] = left > 0 ? left : nil
    }

    // MARK: the end of a login

    /// Stores the result of a login.
    /// - Returns: false if the login no longer counts.
    @discardableResult
    public mutating func won(_ gain: Gain, _ key: Key, flight: Int) -> Bool {
        guard var entry = entries[key], entry.flight?.number == flight else { return false }
        land(&entry, key)
        entry.failure = nil
        entry.past = nil
        entry.session = Session(gain: gain, generation: flight)
        entries[key] = entry
        changed?.insert(key)
        return true
    }

    /// Fails a login for all that wait for it. After a refusal, a pause follows before the next login.
    public mutating func failed(_ fault: LoginFault, _ key: Key, flight: Int, _ now: Now) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        land(&entry, key)
        entry.failure = (flight, fault, fault.isRefusal ? now.milliseconds + key.coolDown : 0)
        entry.heldOff = now.milliseconds + key.coolDown
        entries[key] = entry
    }

    /// The login was abandoned; the next request starts another.
    public mutating func abandoned(_ key: Key, flight: Int) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        land(&entry, key)
        entries[key] = entry
    }

    /// Ends a login with an unknown result, and applies this change.
    public mutating func lost(_ key: Key, flight: Int, _ body: (inout Gain) -> Void) {
        guard entries[key]?.flight?.number == flight else { return }
        change(key, body)
        abandoned(key, flight: flight)
    }

    /// Lets a login continue without its exchange, up to this time.
    public mutating func goesOn(_ key: Key, flight: Int, until time: Int) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        entry.flight.change { $0.until = time }
        entries[key] = entry
    }

    /// A login is late: the result that ends soon is used meanwhile, and no other request waits.
    public mutating func heldOff(_ key: Key, _ now: Now) {
        entries[key]?.heldOff = now.milliseconds + key.coolDown
    }

    // MARK: refusals by resources

    /// Notes that a new result was refused too, so the refusal has another cause than the old one's end.
    public mutating func fruitless(_ key: Key, _ refusal: Refusal, _ now: Now) {
        guard var entry = entries[key], entry.session?.generation == refusal.generation else { return }
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

    /// Notes that the resource accepted the result after a refusal.
    public mutating func taken(_ key: Key, _ refusal: Refusal) { entries[key]?.fruitless[refusal.resource] = nil }

    /// Drops a refused result; the next request logs in. Until a new result is accepted, the same resource cannot cause another
    /// login.
    /// - Returns: false if the result stays, as a new one had been refused as well.
    public mutating func drop(_ key: Key, _ refusal: Refusal, _ now: Now) -> Bool {
        guard var entry = entries[key], entry.session?.generation == refusal.generation else { return true }
        if Self.isFruitless(entry, refusal, now) { return false }
        Self.note(refusal, &entry, key, now)
        entry.end()
        entries[key] = entry
        return true
    }

    /// Changes the result by an ordinary response.
    /// - Parameter generation: of the result that the request carried.
    public mutating func renewed(_ key: Key, generation: Int, _ change: (inout Gain) -> Void) {
        guard entries[key]?.session?.generation == generation else { return }
        entries[key]?.change(change)
    }

    /// Changes the result.
    public mutating func change(_ key: Key, _ body: (inout Gain) -> Void) {
        entries[key]?.change(body)
        changed?.insert(key)
    }

    // MARK: results from elsewhere

    /// The result, expired or not.
    public func last(_ key: Key) -> Gain? { entries[key]?.gain }

    /// This result or its predecessor was refused.
    func isDoubted(_ key: Key) -> Bool { entries[key]?.fruitless.isEmpty == false }

    /// The key has a result, a failure or a login under way.
    func knows(_ key: Key) -> Bool { entries[key] != nil }

    /// Stores a result from elsewhere, and ends a login that is under way.
    public mutating func put(_ gain: Gain, _ key: Key, _ now: Now) {
        var entry = open(key, now)
        land(&entry, key)
        flights += 1
        entry = Entry()
        entry.session = Session(gain: gain, generation: flights)
        entry.lastAsked = now.milliseconds
        entries[key] = entry
        changed?.insert(key)
    }

    /// Reserves the key for a login that happens elsewhere.
    /// - Returns: `logIn` if no other login is under way, else `wait`.
    public mutating func claim(_ key: Key, _ now: Now) -> Answer {
        var entry = open(key, now)
        defer { entries[key] = entry }
        if let flight = entry.flight { return .wait(flight.number) }
        return .logIn(begin(&entry, key, now))
    }

    /// Ends the result; it may still help to get a new one.
    public mutating func end(_ key: Key, _ change: (inout Gain) -> Void = { _ in }) {
        guard var entry = entries[key] else { return }
        entry.end()
        entry.change(change)
        entries[key] = entry
        changed?.insert(key)
    }

    /// Drops entries, with the results of their logins under way.
    /// - Parameter isMeant: gets the result, if there is one.
    /// - Returns: the dropped results.
    @discardableResult
    public mutating func forget(_ isMeant: (Key, Gain?) -> Bool) -> [(key: Key, gain: Gain)] {
        let meant = entries.filter { isMeant($0.key, $0.value.gain) }
        for (key, found) in meant {
            var entry = found
            land(&entry, key)
            entries[key] = nil
            changed?.insert(key)
        }
        return meant.compactMap { key, entry in entry.gain.map { (key, $0) } }
    }

    public mutating func forget(_ key: Key) {
        guard var entry = entries[key] else { return }
        land(&entry, key)
        entries[key] = nil
        changed?.insert(key)
    }

    // MARK: changes to store

    /// Starts recording changes for `takeChanges`.
    public mutating func noteChanges() { changed = changed ?? [] }

    /// Records a change beside the result.
    mutating func touch(_ key: Key) { changed?.insert(key) }

    /// Logins whose result changed since the last call.
    public mutating func takeChanges() -> Set<Key> {
        guard let keys = changed, !keys.isEmpty else { return [] }
        changed = []
        return keys
    }
}
