public import Authorization
public import Interception

/// The cookies that logins have won, one jar for each login and origin, and who logs in at the moment: one for all who need
/// the same. A value that knows no clock and no thread.
public struct CookieSessions: Sendable {
    public struct Key: Hashable, Sendable {
        let login: CookieLogin
        /// Scheme, host and port that the cookies are for.
        let origin: String

        public init(_ login: CookieLogin, origin: String) {
            self.login = login
            self.origin = origin
        }
    }

    public struct Session: Sendable {
        public let jar: CookieJar
        /// Counts logins; what an answer sets in its course belongs to the same.
        public let generation: Int
    }

    public enum Answer: Sendable {
        case use(Session)
        /// Whoever asked logs in, and tells what came of it by this number.
        case logIn(Int)
        /// Somebody does.
        case wait(Int)
        case failed(CookieLoginFault)
    }

    /// That the origin will have a cookie no more.
    public struct Refusal: Sendable {
        let generation: Int
        /// What was asked for, as a hash: that it is refused with any cookie is remembered for it alone, for whoever may
        /// ask for it decides on nobody else's.
        let resource: Int

        public init(generation: Int, path: String) {
            self.generation = generation
            resource = path.hashValue
        }
    }

    /// When something is asked.
    public struct Now: Sendable {
        /// Of a clock that only goes on.
        public let milliseconds: Int
        /// Since 1970.
        public let seconds: Int

        public init(milliseconds: Int, seconds: Int) {
            self.milliseconds = milliseconds
            self.seconds = seconds
        }
    }

    private struct Entry: Sendable {
        var session: Session?
        /// The login that is under way.
        var flight: (number: Int, began: Int)?
        /// What the last one that came to nothing did.
        var failure: (number: Int, fault: CookieLoginFault, until: Int)?
        /// Till when a cookie that is about to end is not replaced, for that came to nothing.
        var heldOff = 0
        /// Resources that refused a cookie that had just been won, and till when none is replaced for them.
        var fruitless: [Int: Int] = [:]
        var lastAsked = 0
    }

    /// More logins at more origins than these are hardly configured; the one that nobody asked for the longest goes.
    static let most = 1024
    /// The one that ends first is forgotten for another.
    private static let mostFruitless = 64
    /// Whoever logs in gives up at the end of `hold` itself, and says so first.
    private static let grace = 1_000
    private static let notAgain = CookieLoginFault(
        reason: "a cookie that had just been won was refused as well, so no other is asked for yet (cool_down)",
        isRefusal: true)

    private var entries: [Key: Entry] = [:]
    private var flights = 0

    public init() {}

    /// What to do where a request needs the cookies.
    /// - Parameters:
    ///   - refusal: of cookies that are good no more, whatever they say.
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
                return .failed(Self.notAgain)
            }
            entry.session = nil
        }
        if let session = entry.session, !session.lasts(key.login.cookie, until: now.seconds) { entry.session = nil }
        // one that hung is nobody's to wait for
        if let flight = entry.flight, now.milliseconds - flight.began > key.login.hold + Self.grace {
            entry.flight = nil
        }

        if let session = entry.session {
            let isDue = !session.lasts(key.login.cookie, until: now.seconds + key.login.renewBefore)
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

    /// A login won these.
    public mutating func won(_ jar: CookieJar, _ key: Key, flight: Int) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        entry.flight = nil
        entry.failure = nil
        entry.session = Session(jar: jar, generation: flight)
        entries[key] = entry
    }

    /// A login came to nothing. Those who wait for it share that; nobody tries again for a while where it was refused.
    public mutating func failed(_ fault: CookieLoginFault, _ key: Key, flight: Int, _ now: Now) {
        guard var entry = entries[key], entry.flight?.number == flight else { return }
        entry.flight = nil
        entry.failure = (flight, fault, fault.isRefusal ? now.milliseconds + key.login.coolDown : 0)
        entry.heldOff = now.milliseconds + key.login.coolDown
        entries[key] = entry
    }

    /// Whoever logged in went away; the next who asks does.
    public mutating func abandoned(_ key: Key, flight: Int) {
        guard entries[key]?.flight?.number == flight else { return }
        entries[key]?.flight = nil
    }

    /// A cookie that had just been won was refused, too: for another reason than that the one before it was over.
    public mutating func fruitless(_ key: Key, _ refusal: Refusal, _ now: Now) {
        guard var entry = entries[key], entry.session?.generation == refusal.generation else { return }
        if entry.fruitless.count >= Self.mostFruitless, let first = entry.fruitless.min(by: { $0.value < $1.value }) {
            entry.fruitless[first.key] = nil
        }
        entry.fruitless[refusal.resource] = now.milliseconds + key.login.coolDown
        entries[key] = entry
    }

    /// The cookies are good no more; the next who asks logs in.
    public mutating func drop(_ key: Key, generation: Int) {
        if entries[key]?.session?.generation == generation { entries[key]?.session = nil }
    }

    /// An ordinary answer set the cookie anew.
    /// - Parameter generation: of the cookies that the request had.
    public mutating func renewed(_ jar: CookieJar, _ key: Key, generation: Int) {
        guard entries[key]?.session?.generation == generation else { return }
        entries[key]?.session = Session(jar: jar, generation: generation)
    }
}

extension CookieSessions.Session {
    /// A cookie that tells no end lasts.
    fileprivate func lasts(_ cookie: String, until seconds: Int) -> Bool {
        guard let found = jar[cookie] else { return false }
        return found.expires.map { $0 > seconds } ?? true
    }
}
