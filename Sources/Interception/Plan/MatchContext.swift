internal import CPCRE2

/// What one match needs beside the expression: places for its groups, its limits, a stack for machine code, and the count
/// of its work. Made once for each thread that matches and used again by every match there, so that a match allocates
/// nothing and waits for nobody.
final class MatchContext {
    enum Result {
        case found(Range<Int>)
        case absent
        case limited(PatternLimit)
        /// The bytes are no UTF-8.
        case notText
    }

    /// Steps that a match may take, as the counter counts them, or so many for each byte of a long subject: enough for what
    /// tries a dozen alternatives at every byte, so that a long text in front of it hides nothing.
    static let steps = 1 << 17
    static let stepsPerByte = 32
    /// Of the interpreter, in KiB: it keeps there what it may have to come back to.
    private static let heap: UInt32 = 8192
    /// PCRE2's own limit for one place where a match may start, behind the one that counts for all of them.
    private static let calls: UInt32 = 1 << 20
    /// Of machine code, in bytes.
    private static let stack = (first: 32 << 10, most: 1 << 20)
    /// `$0` to `$9`.
    private static let groups: UInt32 = 10

    private let data: OpaquePointer
    private let context: OpaquePointer
    private let machineStack: OpaquePointer?
    /// Places that the last match has written: what stands behind them is of another one.
    private var groupCount = 0
    private let stepCounter: UnsafeMutablePointer<usher_step_counter>

    private init?() {
        guard let data = pcre2_match_data_create_8(Self.groups, nil) else { return nil }
        guard let context = pcre2_match_context_create_8(nil) else {
            pcre2_match_data_free_8(data)
            return nil
        }
        self.data = data
        self.context = context
        stepCounter = .allocate(capacity: 1)
        stepCounter.initialize(to: usher_step_counter())
        // without one, machine code has the 32 KiB of the thread's own stack that it takes by itself
        machineStack = pcre2_jit_stack_create_8(Self.stack.first, Self.stack.most, nil)
        if let machineStack { pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(machineStack)) }
        // these cannot fail: each stores what it is given (pcre2_set_match_limit(3))
        pcre2_set_match_limit_8(context, Self.calls)
        pcre2_set_depth_limit_8(context, Self.calls)
        pcre2_set_heap_limit_8(context, Self.heap)
        usher_count_steps(context, stepCounter)
    }

    deinit {
        pcre2_match_context_free_8(context)
        pcre2_match_data_free_8(data)
        if let machineStack { pcre2_jit_stack_free_8(machineStack) }
        stepCounter.deallocate()
    }

    // MARK: the thread's own

    /// The pointer is kept under a key for each thread, so no two threads ever hold the same room, and the room ends with
    /// its thread. Nil where memory or keys have run out.
    static var ofThisThread: MatchContext? {
        guard let key else { return nil }
        if let kept = usher_thread_value(key) { return Unmanaged<MatchContext>.fromOpaque(kept).takeUnretainedValue() }
        guard let room = MatchContext() else { return nil }
        let owned = Unmanaged.passRetained(room)
        guard usher_set_thread_value(key, owned.toOpaque()) == 0 else {
            owned.release()
            return nil
        }
        return room
    }

    private static let key: UInt32? = {
        var key: UInt32 = 0
        let made = usher_make_thread_key(&key) { room in
            if let room { Unmanaged<MatchContext>.fromOpaque(room).release() }
        }
        return made == 0 ? key : nil
    }()

    // MARK: matching

    /// Gives out the allowance for what follows: one match, or all that one replacement makes.
    func begin(_ code: PatternCode, count: Int) {
        stepCounter.pointee = usher_step_counter(
            work: 0, allowance: max(Self.steps, Self.stepsPerByte * count),
            cost: code.stepCost(on: count), last: 0)
    }

    /// Finds the first match at or behind a place.
    /// - Parameter start: other than 0 where a search goes on, over bytes that the one from 0 found to be UTF-8: looking
    ///   at all of them again for every match would take the square of their count.
    func find(_ code: PatternCode, in subject: UnsafeBufferPointer<UInt8>, from start: Int = 0) -> Result {
        stepCounter.pointee.last = start
        let options = start > 0 ? PCRE2_NO_UTF_CHECK : 0
        let status = pcre2_match_8(code.pointer, subject.baseAddress, subject.count, start, options, data, context)
        switch status {
        // 0: there are more groups than places for them
        case 0...:
            groupCount = status == 0 ? Int(Self.groups) : Int(status)
            guard let range = group(0), range.upperBound <= subject.count, range.lowerBound >= start else {
                return .absent
            }
            return .found(range)
        case PCRE2_ERROR_NOMATCH: return .absent
        case PCRE2_ERROR_UTF8_ERR21...PCRE2_ERROR_UTF8_ERR1: return .notText
        case PCRE2_ERROR_CALLOUT, PCRE2_ERROR_MATCHLIMIT: return .limited(.steps)
        case PCRE2_ERROR_DEPTHLIMIT: return .limited(.depth)
        default: return .limited(.memory)
        }
    }

    /// Where the last match has a group; nil for one that took no part.
    func group(_ number: Int) -> Range<Int>? {
        guard number < groupCount, let places = pcre2_get_ovector_pointer_8(data) else { return nil }
        // a group that took no part has PCRE2_UNSET in both, which is -1 here
        let (lower, upper) = (places[2 * number], places[2 * number + 1])
        return lower >= 0 && lower <= upper ? lower..<upper : nil
    }
}
