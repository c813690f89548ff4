public import Authorization

/// What logins have won, one gain for each key, and who logs in at the moment: one for all who need the same. A value that
/// knows no clock and no thread.
public struct SharedLogins<Gain: LoginGain>: Sendable {
    public typealias Key = Gain.Key
    public typealias Now = LoginTime

    public struct Session: Sendable {
        public var gain: Gain
        /// Counts logins; what an answer changes in its course belongs to the same.
        public let generation: Int
        /// Something refused it, or what was there before it: whether it is taken is of interest.
        public var isDoubted = false
    }

    public enum Answer: Sendable {
        case use(Session)
        /// Whoever asked logs in, and tells what came of it by this number.
        case logIn(Int)
        /// Somebody does, or too many of the same owner do.
        case wait(Int)
        case failed(LoginFault)
    }

    /// What is waited for.
    public enum Obstacle: Hashable, Sendable {
        /// A login that is under way.
        case login(Key)
        /// One of the logins of that owner, for as many are under way as may be.
        case room(Key.Owner)
    }

    /// That what was won is good no more.
    public struct Refusal: Sendable {
        let generation: Int
        /// What was asked for, as a hash: that it is refused with anything is remembered for it alone, for whoever may
        /// ask for it decides on nobody else's.
        let resource: Int

        public init(generation: Int, path: String) {
            self.generation = generation
            resource = path.hashValue
        }
    }

    struct Flight: Sendable {
        let number: Int
        let owner: Key.Owner
        /// How long others wait for it.
        var until: Int
    }

    struct Entry: Sendable {
        var session: Session?
        /// What is over, where it is of use to win another.
        var past: Gain?
        /// The login that is under way.
        var flight: Flight?
        /// What the last one that came to nothing did.
        var failure: (number: Int, fault: LoginFault, until: Int)?
        /// Till when what is about to end is not replaced, for that came to nothing.
        var heldOff = 0
        /// Resources that refused what had just been won, and till when nothing is replaced for them.
        var fruitless: [Int: Int] = [:]
        var lastAsked = 0

        /// What is there, over or not.
        var gain: Gain? { session?.gain ?? past }

        /// What lasts, is not due, and was refused by nothing.
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

    /// The one that ends first is forgotten for another.
    private static var mostFruitless: Int { 64 }
    /// Whoever logs in gives up at the end of `hold` itself, and says so first.
    private static var grace: Int { 1_000 }

    var entries: [Key: Entry] = [:]
    /// How many logins of each owner are under way.
    private var underWay: [Key.Owner: Int] = [:]
    private var flights = 0
    /// Logins that are over, whatever came of them, since somebody asked.
    private var landed: [Key] = []
    /// Whose gain is another one, or none any more; nil where nobody asks.
    var changed: Set<Key>?

    public init() {}

    /// What to do where a request needs it.
    /// - Parameters:
    ///   - refusal: of what is good no more, whatever it says.
    ///   - flight: the login that was waited for.
    public mutating func ask(
        _ key: Key, after refusal: Refusal?, waited flight: Int?, _ now: Now
    ) -> Answer {
        // where it is at hand, as for nearly every request, nothing else of the entry is looked at
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
            // one that was waited for is new, however short it lasts
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
            // what is there is good until its end; else whatever begins next is what it waits for
            return entry.session.map { .use($0) } ?? .wait(flights + 1)
        }
        return .logIn(begin(&entry, key, now))
    }

    /// What it is that whoever asked for this was told to wait for, and when to ask again at the latest.
    public func obstacle(_ key: Key) -> (what: Obstacle, until: Int) {
        guard let flight = entries[key]?.flight else { return (.room(key.owner), .max) }
        return (.login(key), flight.until + 1)
    }

    /// Logins that are over since this was asked last.
    public mutating func takeLanded() -> [Key] {
        guard !landed.isEmpty else { return [] }
        defer { landed = [] }
        return landed
    }

    private mutating func open(_ key: Key, _ now: Now) -> Entry {
        if entries[key] == nil { makeRoom() }
        var entry = entries[key] ?? Entry()
        entry.lastAsked = now.milliseconds
        // one that hung is nobody's to wait for
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

    // MARK: what came of a login

    /// A login won this.
    /// - Returns: false where it is nobody's any more.
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

    /// A login came to nothing. Those who wait for it share that; nobody tries again for a while where it was refused.
    public mutating func failed(_ fault: LoginFault, _ key: Key, flight: Int, _ now: Now) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        land(&entry, key)
        entry.failure = (flight, fault, fault.isRefusal ? now.milliseconds + key.coolDown : 0)
        entry.heldOff = now.milliseconds + key.coolDown
        entries[key] = entry
    }

    /// Whoever logged in went away; the next who asks does.
    public mutating func abandoned(_ key: Key, flight: Int) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        land(&entry, key)
        entries[key] = entry
    }

    /// What came of it is not known, but that what was there is otherwise.
    public mutating func lost(_ key: Key, flight: Int, _ body: (inout Gain) -> Void) {
        guard entries[key]?.flight?.number == flight else { return }
        change(key, body)
        abandoned(key, flight: flight)
    }

    /// It goes on without whoever began it, up to that time.
    public mutating func goesOn(_ key: Key, flight: Int, until time: Int) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        entry.flight.change { $0.until = time }
        entries[key] = entry
    }

    /// It takes long: what is about to end goes along meanwhile, and nobody else waits for another.
    public mutating func heldOff(_ key: Key, _ now: Now) {
        entries[key]?.heldOff = now.milliseconds + key.coolDown
    }

    // MARK: what resources say

    /// What had just been won was refused, too: for another reason than that the one before it was over.
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

    /// It was taken after all where something had been refused.
    public mutating func taken(_ key: Key, _ refusal: Refusal) { entries[key]?.fruitless[refusal.resource] = nil }

    /// It is good no more; the next who asks logs in. Whether that helps is not seen by who says so: until it was, the same
    /// resource has no other won.
    /// - Returns: false where it stays, as one that had just been won was refused as well.
    public mutating func drop(_ key: Key, _ refusal: Refusal, _ now: Now) -> Bool {
        guard var entry = entries[key], entry.session?.generation == refusal.generation else { return true }
        if Self.isFruitless(entry, refusal, now) { return false }
        Self.note(refusal, &entry, key, now)
        entry.end()
        entries[key] = entry
        return true
    }

    /// An ordinary answer changed it.
    /// - Parameter generation: of what the request had.
    public mutating func renewed(_ key: Key, generation: Int, _ change: (inout Gain) -> Void) {
        guard entries[key]?.session?.generation == generation else { return }
        entries[key]?.change(change)
    }

    /// It is otherwise than was thought.
    public mutating func change(_ key: Key, _ body: (inout Gain) -> Void) {
        entries[key]?.change(body)
        changed?.insert(key)
    }

    // MARK: what was won elsewhere

    /// What is there of it, over or not.
    public func last(_ key: Key) -> Gain? { entries[key]?.gain }

    /// Something has refused what is there, or what was there before it.
    func isDoubted(_ key: Key) -> Bool { entries[key]?.fruitless.isEmpty == false }

    /// Something is known of it: what was won, what failed, or who is at it.
    func knows(_ key: Key) -> Bool { entries[key] != nil }

    /// Somebody else won this, and a login that is under way is not waited for.
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

    /// Somebody else is about to win it, and does so alone.
    /// - Returns: `logIn` where nobody else is at it, `wait` where somebody is.
    public mutating func claim(_ key: Key, _ now: Now) -> Answer {
        var entry = open(key, now)
        defer { entries[key] = entry }
        if let flight = entry.flight { return .wait(flight.number) }
        return .logIn(begin(&entry, key, now))
    }

    /// It does no more, and helps to win another still.
    public mutating func end(_ key: Key, _ change: (inout Gain) -> Void = { _ in }) {
        guard var entry = entries[key] else { return }
        entry.end()
        entry.change(change)
        entries[key] = entry
        changed?.insert(key)
    }

    /// All that is known of these is over, and what comes of logins that are under way for them, too.
    /// - Parameter isMeant: is given what there is, where there is something.
    /// - Returns: what there was.
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

    // MARK: what outlives the process

    /// From here on `takeChanges` knows.
    public mutating func noteChanges() { changed = changed ?? [] }

    /// What is known of it beside the gain is otherwise.
    mutating func touch(_ key: Key) { changed?.insert(key) }

    /// Whose gain has changed since.
    public mutating func takeChanges() -> Set<Key> {
        guard let keys = changed, !keys.isEmpty else { return [] }
        changed = []
        return keys
    }
}
