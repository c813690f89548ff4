/// Pauses logins after failures, so that Usher never locks a user out at AM by repeating wrong answers. Pure: digests and time
/// come in, permissions go out.
///
/// There are two tallies: one for the answers, one for these answers in one session. Until AM has accepted the answers once, each
/// refusal counts against both. Afterwards the answers are right for somebody. A refusal in a session that they never served then
/// counts once against the answers, because the session is the likely cause. Otherwise a client with another user's session could
/// pause everybody. If many such sessions make the answers doubtful, a session that they served last time may still try.
public struct Lockout: Sendable {
    /// `authorization.lockout` of the configuration.
    public struct Limits: Equatable, Sendable {
        /// Refusals in a row before logins pause; 0 for never.
        public var refusals: Int
        /// The first pause in milliseconds. Each later pause is twice as long, up to an hour.
        public var hold: Int

        public init(refusals: Int = 3, hold: Int = 30_000) {
            self.refusals = refusals
            self.hold = hold
        }

        public static let longestPause = 3_600_000
    }

    /// The two groups that count a login's refusals.
    public struct Key: Hashable, Sendable {
        public var answers: UInt128
        /// The digest of answers and session.
        public var session: UInt128
        /// The place of the login, as text. It is not part of the identity.
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
        /// Permitted; the login counts as under way until `end`.
        case go
        /// As many logins are under way as may fail.
        case later
        /// Paused for this many milliseconds.
        case held(refusals: Int, milliseconds: Int)
        /// The tallies of logins under way leave no room for another.
        case full
    }

    public enum Verdict: Sendable {
        case taken, refused
        /// The login ended before AM could judge it.
        case unjudged
    }

    var answers: [UInt128: Tally] = [:]
    var sessions: [UInt128: Tally] = [:]
    private let capacity: Int

    public init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    public var count: Int { answers.count + sessions.count }

    /// Asks for permission. Logins under way count as possible failures, so that concurrent ones cannot exceed the limit.
    /// - Parameter again: true if the login was granted before and sends more answers.
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

    /// The pause that applies now, without a request for permission; nil if a login may start or waits for others only.
    public func pause(_ key: Key, _ limits: Limits, now: Int) -> Permission? {
        guard limits.refusals > 0 else { return nil }
        return Self.pause(answers[key.answers] ?? Tally(), sessions[key.session] ?? Tally(), now)
    }

    private static func pause(_ whole: Tally, _ own: Tally, _ now: Int) -> Permission? {
        let knowsBetter = whole.isDoubted && own.successes > 0
        let held = (knowsBetter ? [own] : [whole, own]).first { now < $0.heldUntil }
        return held.map { .held(refusals: $0.refusals, milliseconds: $0.heldUntil - now) }
    }

    /// Records that AM granted the login or asks for a person's input. The resource's verdict or the person may take long, and
    /// neither blocks other logins.
    public mutating func grant(_ key: Key, _ limits: Limits, now: Int) {
        guard limits.refusals > 0 else { return }
        answers[key.answers]?.grant(now)
        sessions[key.session]?.grant(now)
    }

    /// Records the end of a permitted login.
    /// - Parameter granted: true if `grant` was called before.
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

    /// Frees entries of a full table: first those without refusals, then all except logins under way. False if only those are
    /// left.
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
    /// The place of the login, as text.
    private(set) var place = ""
    /// Refusals in a row since the last success.
    var refusals = 0
    /// Successes in a row since the last refusal.
    var successes = 0
    private(set) var underWay = 0
    /// Logins that AM granted and the resource has not confirmed yet.
    private(set) var granted = 0
    var heldUntil = Int.min
    /// AM accepted the answers once, and refused them since in sessions that they never served.
    private(set) var isDoubted = false
    private var pauses = 0
    private var last = 0

    /// The limit of concurrent logins after any number of successes.
    private static let most = 256
    /// The limit of unconfirmed logins before AM has accepted the answers once. A refused transaction looks like a success until
    /// the resource asks again (docs/protocol.md).
    private static let mostUnproven = 16

    /// True if a login under way needs the entry.
    var isInUse: Bool { underWay > 0 || granted > 0 }

    /// Whether another login may start.
    func hasRoom(_ limits: Lockout.Limits) -> Bool {
        underWay < allowed(limits) && granted < (successes > 0 ? Self.most : Self.mostUnproven)
    }

    /// The limit of concurrent logins: the refusals that are left, or one for each success in a row if that is more.
    private func allowed(_ limits: Lockout.Limits) -> Int {
        if successes > 0 { return max(limits.refusals, min(successes, Self.most)) }
        // after a pause, only one login tries first
        return max(1, limits.refusals - refusals)
    }

    /// True if there are refusals from the last hour, or a pause that ended in the last hour.
    func isCharged(_ now: Int) -> Bool { refusals > 0 && now < max(heldUntil, last) + Lockout.Limits.longestPause }

    /// Forgets refusals that are more than an hour old, not counting pauses.
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

    /// A granted login sends more answers to AM.
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

    /// Resets the refusals. Logins under way still count.
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

    /// Counts a refusal in a session that the answers never served.
    mutating func doubted(_ limits: Lockout.Limits, _ now: Int) {
        refusals += 1
        isDoubted = true
        if refusals >= limits.refusals { successes = 0 }
        pause(limits, now)
    }

    /// Starts a pause. Failures of logins that were under way when a pause began do not extend it.
    private mutating func pause(_ limits: Lockout.Limits, _ now: Int) {
        guard refusals >= limits.refusals, now >= heldUntil else { return }
        let longest = max(limits.hold, Lockout.Limits.longestPause)
        heldUntil = now + min(limits.hold << min(pauses, 12), longest)
        pauses += 1
    }
}
