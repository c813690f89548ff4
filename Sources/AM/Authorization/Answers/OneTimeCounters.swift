/// Records which one-time passwords were used, across all loops and restarts. AM refuses a password that is used twice.
struct OneTimeCounters {
    /// Nil if nothing is persisted.
    let state: (any StateStore)?

    enum Claim: Equatable {
        case code(String)
        /// The password of this period was used before.
        case taken
        /// The counters of another process are being read. Ask again after this many milliseconds.
        case later(milliseconds: Int)
        case failed(String)
    }

    /// Limit of periods ahead. A larger distance means that the clock was set back.
    private static let mostAhead: UInt64 = 10
    /// Limit of reserved periods. It is smaller than `mostAhead`, so a clock that is set back a little does not reuse them.
    private static let mostKept = mostAhead / 2

    /// The time to read a small file, in milliseconds.
    private static let reading = 10

    /// An unused password of a future period.
    struct Place: Sendable {
        let counter: UInt64
        /// True if the password is reserved for the caller. Otherwise the caller asks again at that time.
        var isKept = false
        /// The start of the period, in seconds since 1970.
        let time: Int
    }

    /// The first free place if the current password was used before. The place is reserved unless it is more than `longest`
    /// seconds away. Nil if the current password is free.
    func place(_ password: OneTimePassword, seconds: Int, longest: Int) -> Place? {
        let key = StateKey(.counters, password.name)
        guard case .time(let period) = password.kind, let known = state?.value(of: key).flatMap(Self.counter),
            Self.isTaken(Self.counter(of: seconds, period), known)
        else { return nil }
        var place: Place?
        _ = change(key) { last in
            let counter = Self.counter(of: seconds, period)
            guard let known = last, Self.isTaken(counter, known) else { return }
            var found = Place(counter: known + 1, time: Int(known + 1) * period)
            found.isKept = found.time - seconds <= longest && found.counter - counter <= Self.mostKept
            if found.isKept { last = found.counter }
            place = found
        }
        return place
    }

    /// The password of a place. Nil before its period starts and after the password has expired.
    func code(of place: Place, _ password: OneTimePassword, seconds: Int) -> String? {
        guard case .time(let period) = password.kind else { return nil }
        // AM also accepts the password of the previous period
        let counter = Self.counter(of: seconds, period)
        return place.counter == counter || place.counter + 1 == counter ? password.code(place.counter) : nil
    }

    private static func counter(of seconds: Int, _ period: Int) -> UInt64 { UInt64(max(0, seconds) / period) }

    private static func isTaken(_ counter: UInt64, _ known: UInt64) -> Bool {
        known >= counter && known - counter <= mostAhead
    }

    func claim(_ password: OneTimePassword, seconds: Int) -> Claim {
        if let state, !state.isCurrent(.counters) { return .later(milliseconds: Self.reading) }
        let key = StateKey(.counters, password.name)
        var counter: UInt64 = 0
        var isTaken = false
        let isKept: Bool
        switch password.kind {
        case .time(let period):
            counter = Self.counter(of: seconds, period)
            isKept = change(key) { last in
                if let known = last, Self.isTaken(counter, known) {
                    isTaken = true
                } else {
                    last = counter
                }
            }
            if isTaken { return .taken }
        case .counter(let first):
            isKept = change(key) { last in
                // a counter that was set forward by hand counts
                counter = max(first, last.map { $0 &+ 1 } ?? first)
                last = counter
            }
        }
        guard isKept else { return .failed("the state directory has no room to remember which one was given") }
        return password.code(counter).map(Claim.code) ?? .failed("the library makes none")
    }

    private static func counter(_ bytes: [UInt8]) -> UInt64? { UInt64(String(decoding: bytes, as: UTF8.self)) }

    /// How many counters ahead to look for a code that was used elsewhere.
    private static let mostPassed: UInt64 = 10

    /// Records a code that was sent to AM by someone else, so that Usher does not use it again.
    func saw(_ code: String, of password: OneTimePassword, seconds: Int) {
        let key = StateKey(.counters, password.name)
        let first: UInt64
        switch password.kind {
        case .time(let period): first = Self.counter(of: seconds, period).subtractingReportingOverflow(1).partialValue
        case .counter(let start):
            let last = state?.value(of: key).flatMap(Self.counter)
            first = max(start, last.map { $0 &+ 1 } ?? start)
        }
        let count: UInt64 = if case .time = password.kind { 3 } else { Self.mostPassed }
        let found = (0..<count).lazy.map { first &+ $0 }.first { counter in
            password.code(counter).map { $0.utf8.elementsEqual(code.utf8) } ?? false
        }
        guard let found else { return }
        _ = change(key) { last in last = max(last ?? found, found) }
    }

    /// - Returns: false if the change cannot be stored.
    private func change(_ key: StateKey, _ body: (inout UInt64?) -> Void) -> Bool {
        guard let state else {
            var none: UInt64?
            body(&none)
            return true
        }
        return state.change(key) { bytes in
            var counter = bytes.flatMap(Self.counter)
            body(&counter)
            bytes = counter.map { Array(String($0).utf8) }
        }
    }
}
