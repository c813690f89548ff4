public import Authorization

/// What logins have won, one gain for each key, and who logs in at the moment: one for all who need the same. A value that
/// knows no clock and no thread.
public struct SharedLogins<Gain: LoginGain>: Sendable {
    public typealias Key = Gain.Key
    public typealias Now = LoginTime

    public struct Session: Sendable {
        public let gain: Gain
        /// Counts logins; what an answer changes in its course belongs to the same.
        public let generation: Int
    }

    public enum Answer: Sendable {
        case use(Session)
        /// Whoever asked logs in, and tells what came of it by this number.
        case logIn(Int)
        /// Somebody does.
        case wait(Int)
        case failed(LoginFault)
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

    private struct Entry: Sendable {
        var session: Session?
        /// What is over, where it is of use to win another.
        var past: Gain?
        /// The login that is under way.
        var flight: (number: Int, began: Int)?
        /// What the last one that came to nothing did.
        var failure: (number: Int, fault: LoginFault, until: Int)?
        /// Till when what is about to end is not replaced, for that came to nothing.
        var heldOff = 0
        /// Resources that refused what had just been won, and till when nothing is replaced for them.
        var fruitless: [Int: Int] = [:]
        var lastAsked = 0

        mutating func end() {
            if let session, session.gain.renews { past = session.gain }
            session = nil
        }
    }

    /// Beyond these the one goes that nobody asked for the longest.
    static var most: Int { Gain.most }
    /// The one that ends first is forgotten for another.
    private static var mostFruitless: Int { 64 }
    /// Whoever logs in gives up at the end of `hold` itself, and says so first.
    private static var grace: Int { 1_000 }

    private var entries: [Key: Entry] = [:]
    private var flights = 0

    public init() {}

    /// What to do where a request needs it.
    /// - Parameters:
    ///   - refusal: of what is good no more, whatever it says.
    ///   - flight: the login that was waited for.
    public mutating func ask(
        _ key: Key, after refusal: Refusal?, waited flight: Int?, _ now: Now
    ) -> Answer {
        makeRoom(for: key)
        var entry = entries[key] ?? Entry()
        entry.lastAsked = now.milliseconds
        defer { entries[key] = entry }
        if let refusal, let session = entry.session, session.generation == refusal.generation {
            if entry.fruitless[refusal.resource].map({ $0 > now.milliseconds }) == true {
                return .failed(LoginFault(reason: Gain.notAgain, isRefusal: true))
            }
            entry.end()
        }
        if let session = entry.session, !session.gain.lasts(key, until: now.seconds) { entry.end() }
        // one that hung is nobody's to wait for
        if let flight = entry.flight, now.milliseconds - flight.began > key.hold + Self.grace {
            entry.flight = nil
        }

        if let session = entry.session {
            let isDue = session.gain.isDue(key, at: now.seconds)
            // one that was waited for is new, however short it lasts
            let isNew = flight.map { session.generation >= $0 } ?? false
            if !isDue || isNew || entry.heldOff > now.milliseconds || entry.flight != nil { return .use(session) }
        }
        if let failure = entry.failure {
            if failure.until > now.milliseconds { return .failed(failure.fault) }
            if let flight, failure.number >= flight { return .failed(failure.fault) }
        }
        if let flight = entry.flight { return .wait(flight.number) }
        flights += 1
        entry.flight = (flights, now.milliseconds)
        return .logIn(flights)
    }

    private mutating func makeRoom(for key: Key) {
        guard entries.count >= Self.most, entries[key] == nil else { return }
        let idle = entries.filter { $0.value.flight == nil }
        if let oldest = idle.min(by: { $0.value.lastAsked < $1.value.lastAsked }) { entries[oldest.key] = nil }
    }

    /// A login won this.
    public mutating func won(_ gain: Gain, _ key: Key, flight: Int) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        entry.flight = nil
        entry.failure = nil
        entry.past = nil
        entry.session = Session(gain: gain, generation: flight)
        entries[key] = entry
    }

    /// A login came to nothing. Those who wait for it share that; nobody tries again for a while where it was refused.
    public mutating func failed(_ fault: LoginFault, _ key: Key, flight: Int, _ now: Now) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        entry.flight = nil
        entry.failure = (flight, fault, fault.isRefusal ? now.milliseconds + key.coolDown : 0)
        entry.heldOff = now.milliseconds + key.coolDown
        entries[key] = entry
    }

    /// Whoever logged in went away; the next who asks does.
    public mutating func abandoned(_ key: Key, flight: Int) {
        guard entries[key]?.flight?.number == flight else { return }
        entries[key]?.flight = nil
    }

    /// What had just been won was refused, too: for another reason than that the one before it was over.
    public mutating func fruitless(_ key: Key, _ refusal: Refusal, _ now: Now) {
        guard var entry = entries[key], entry.session?.generation == refusal.generation else { return }
        if entry.fruitless.count >= Self.mostFruitless, let first = entry.fruitless.min(by: { $0.value < $1.value }) {
            entry.fruitless[first.key] = nil
        }
        entry.fruitless[refusal.resource] = now.milliseconds + key.coolDown
        entries[key] = entry
    }

    /// It is good no more; the next who asks logs in.
    public mutating func drop(_ key: Key, generation: Int) {
        if entries[key]?.session?.generation == generation { entries[key]?.end() }
    }

    /// An ordinary answer changed it.
    /// - Parameter generation: of what the request had.
    public mutating func renewed(_ gain: Gain, _ key: Key, generation: Int) {
        guard entries[key]?.session?.generation == generation else { return }
        entries[key]?.session = Session(gain: gain, generation: generation)
    }

    // MARK: what was won elsewhere

    /// What is there of it, over or not.
    public func last(_ key: Key) -> Gain? { entries[key].flatMap { $0.session?.gain ?? $0.past } }

    /// Somebody else won this, and a login that is under way is not waited for.
    public mutating func put(_ gain: Gain, _ key: Key, _ now: Now) {
        makeRoom(for: key)
        flights += 1
        var entry = Entry()
        entry.session = Session(gain: gain, generation: flights)
        entry.lastAsked = now.milliseconds
        entries[key] = entry
    }

    /// All that is known of these is over.
    /// - Returns: what there was.
    @discardableResult
    public mutating func forget(_ isMeant: (Key, Gain) -> Bool) -> [(key: Key, gain: Gain)] {
        var found: [(key: Key, gain: Gain)] = []
        for (key, entry) in entries {
            guard let gain = entry.session?.gain ?? entry.past, isMeant(key, gain) else { continue }
            found.append((key, gain))
        }
        for one in found { entries[one.key] = nil }
        return found
    }
}
