/// How many logins may fail before further ones hold off, so that Usher never locks a user out at AM by repeating wrong
/// answers. Pure: digests and time come in, permissions go out.
///
/// Two tallies are kept: one for the answers, one for these answers in one session. While AM has not taken the answers
/// once, each refusal counts against both. Answers that were taken are right for somebody: what a session is refused that
/// they never served says more about the session, and counts once against the answers. A client with another user's
/// session could else hold off everybody. Where many such sessions have made the answers doubtful, one that they served
/// last time may still try: it knows best.
public struct Lockout: Sendable {
    /// `authorization.lockout` of the configuration.
    public struct Limits: Equatable, Sendable {
        /// Refusals in a row before logins hold off; 0 for never.
        public var refusals: Int
        /// Milliseconds that the first pause lasts. Each later one lasts twice as long, up to an hour.
        public var hold: Int

        public init(refusals: Int = 3, hold: Int = 30_000) {
            self.refusals = refusals
            self.hold = hold
        }

        public static let longestPause = 3_600_000
    }

    /// Whose refusals are counted together.
    public struct Key: Hashable, Sendable {
        public var answers: UInt128
        /// The answers and the session.
        public var session: UInt128
        /// Where the login is, in words; it tells no two of them apart.
        public var place = ""

        public init(answers: UInt128, session: UInt128, at place: String = "") {
            self.answers = answers
            self.session = session
            self.place = place
        }

        public static func == (left: Key, right: Key) -> Bool {
            left.answers == right.answers && left.session == right.session
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(answers)
            hasher.combine(session)
        }
    }

    public enum Permission: Equatable, Sendable {
        /// It counts as under way from now until `end`.
        case go
        /// As many are under way as may fail.
        case later
        /// Not before so many milliseconds have passed.
        case held(refusals: Int, milliseconds: Int)
        /// The tallies of logins under way leave no room for others.
        case full
    }

    public enum Verdict: Sendable {
        case taken, refused
        /// It ended for another reason, before AM could judge.
        case unjudged
    }

    var answers: [UInt128: Tally] = [:]
    var sessions: [UInt128: Tally] = [:]
    private let capacity: Int

    public init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    public var count: Int { answers.count + sessions.count }

    /// Asks for a login. One that is under way counts as one that may fail, or many at once would find nothing against
    /// them.
    /// - Parameter again: it was granted, and goes on telling AM answers.
    public mutating func begin(_ key: Key, _ limits: Limits, again: Bool = false, now: Int) -> Permission {
        guard limits.refusals > 0 else { return .go }
        var whole = answers[key.answers] ?? Tally()
        var own = sessions[key.session] ?? Tally()
        whole.forget(now)
        own.forget(now)
        if let pause = Self.pause(whole, own, now) { return pause }
        if again {
            whole.takeBack()
            own.takeBack()
        }
        guard whole.hasRoom(limits), own.hasRoom(limits) else { return .later }
        whole.begin(now, at: key.place)
        own.begin(now, at: key.place)
        guard Self.makeRoom(in: &answers, for: key.answers, capacity, now),
            Self.makeRoom(in: &sessions, for: key.session, capacity, now)
        else { return .full }
        answers[key.answers] = whole
        sessions[key.session] = own
        return .go
    }

    /// Why no login begins now, without asking for one; nil where one may, or has to wait for others alone.
    public func pause(_ key: Key, _ limits: Limits, now: Int) -> Permission? {
        guard limits.refusals > 0 else { return nil }
        return Self.pause(answers[key.answers] ?? Tally(), sessions[key.session] ?? Tally(), now)
    }

    private static func pause(_ whole: Tally, _ own: Tally, _ now: Int) -> Permission? {
        let knowsBetter = whole.isDoubted && own.successes > 0
        let held = (knowsBetter ? [own] : [whole, own]).first { now < $0.heldUntil }
        return held.map { .held(refusals: $0.refusals, milliseconds: $0.heldUntil - now) }
    }

    /// AM says that a login succeeded, or asks for what a person has to say. What the resource makes of that, or when the
    /// person says it, may take its time and holds nobody up.
    public mutating func grant(_ key: Key, _ limits: Limits, now: Int) {
        guard limits.refusals > 0 else { return }
        answers[key.answers]?.grant(now)
        sessions[key.session]?.grant(now)
    }

    /// A login that was permitted is over.
    /// - Parameter granted: AM had said that it succeeded.
    public mutating func end(_ key: Key, _ verdict: Verdict, granted: Bool = false, _ limits: Limits, now: Int) {
        guard limits.refusals > 0, var whole = answers[key.answers], var own = sessions[key.session] else { return }
        whole.end(granted, now)
        own.end(granted, now)
        switch verdict {
        case .unjudged: break
        case .taken:
            whole.taken()
            own.taken()
        case .refused:
            let served = own.successes > 0
            own.refused(limits, now)
            if served || whole.successes == 0 && !whole.isDoubted {
                whole.refused(limits, now)
            } else if own.refusals == 1 {
                whole.doubted(limits, now)
            }
        }
        answers[key.answers] = whole
        sessions[key.session] = own
    }

    /// Forgets what is least needed where the table is full: first what has nothing against it, then the rest but for
    /// logins under way. False where only those are left.
    private static func makeRoom(
        in table: inout [UInt128: Tally], for key: UInt128, _ capacity: Int, _ now: Int
    ) -> Bool {
        guard table[key] == nil, table.count >= capacity else { return true }
        table = table.filter { $0.value.isInUse || $0.value.isCharged(now) }
        if table.count >= capacity { table = table.filter { $0.value.isInUse } }
        return table.count < capacity
    }
}

struct Tally: Sendable {
    /// Where the login is, in words.
    private(set) var place = ""
    /// In a row, since the last success.
    var refusals = 0
    /// In a row, since the last refusal.
    var successes = 0
    private(set) var underWay = 0
    /// AM said of so many that they succeeded, and the resource has yet to say whether they did.
    private(set) var granted = 0
    var heldUntil = Int.min
    /// AM has taken the answers, and since then refused them in other sessions than those that they served.
    private(set) var isDoubted = false
    private var pauses = 0
    private var last = 0

    /// More at once than this are not permitted whatever went well before.
    private static let most = 256
    /// A refused transaction looks like a success until the resource asks again (docs/protocol.md): no more of them
    /// than this wait for its word while AM has not taken the answers once.
    private static let mostUnproven = 16

    /// It has to be here when a login ends.
    var isInUse: Bool { underWay > 0 || granted > 0 }

    /// Whether one more may begin.
    func hasRoom(_ limits: Lockout.Limits) -> Bool {
        underWay < allowed(limits) && granted < (successes > 0 ? Self.most : Self.mostUnproven)
    }

    /// How many may be under way at once: as many as may still fail, and one for each success in a row.
    private func allowed(_ limits: Lockout.Limits) -> Int {
        if successes > 0 { return max(limits.refusals, min(successes, Self.most)) }
        // behind a pause one tries first
        return max(1, limits.refusals - refusals)
    }

    /// There is something against it that is not an hour old.
    func isCharged(_ now: Int) -> Bool { refusals > 0 && now < max(heldUntil, last) + Lockout.Limits.longestPause }

    /// What lies an hour back, pauses aside, is forgotten.
    mutating func forget(_ now: Int) {
        guard !isInUse, refusals > 0, !isCharged(now) else { return }
        self = Tally()
    }

    mutating func begin(_ now: Int, at place: String) {
        self.place = place
        underWay += 1
        last = now
    }

    mutating func grant(_ now: Int) {
        underWay = max(0, underWay - 1)
        granted += 1
        last = now
    }

    /// What waited for a word tells AM more.
    mutating func takeBack() { granted = max(0, granted - 1) }

    mutating func end(_ wasGranted: Bool, _ now: Int) {
        if wasGranted { granted = max(0, granted - 1) } else { underWay = max(0, underWay - 1) }
        last = now
    }

    mutating func taken() {
        refusals = 0
        successes += 1
        pauses = 0
        heldUntil = .min
        isDoubted = false
    }

    /// Nothing counts against it any more; what is under way is.
    mutating func clear() {
        refusals = 0
        pauses = 0
        heldUntil = .min
        isDoubted = false
    }

    mutating func refused(_ limits: Lockout.Limits, _ now: Int) {
        successes = 0
        refusals += 1
        isDoubted = false
        pause(limits, now)
    }

    /// Another session than those that the answers served was refused.
    mutating func doubted(_ limits: Lockout.Limits, _ now: Int) {
        refusals += 1
        isDoubted = true
        if refusals >= limits.refusals { successes = 0 }
        pause(limits, now)
    }

    /// Those that were under way when a pause began do not make it longer.
    private mutating func pause(_ limits: Lockout.Limits, _ now: Int) {
        guard refusals >= limits.refusals, now >= heldUntil else { return }
        let longest = max(limits.hold, Lockout.Limits.longestPause)
        heldUntil = now + min(limits.hold << min(pauses, 12), longest)
        pauses += 1
    }
}
