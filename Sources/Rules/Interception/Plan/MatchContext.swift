internal import CPCRE2

/// The working memory of matches: places for groups, limits, a stack for compiled code and the step counter. One per thread, so
/// that a match allocates nothing and takes no lock.
final class MatchContext {
    enum Result {
        case found(Range<Int>)
        case absent
        case limited(PatternLimit)
        /// The bytes are not UTF-8.
        case notText
    }

    /// The step limit of a match; long subjects get this many steps per byte. That is enough for a dozen alternatives at every
    /// byte, so padding with a long text cannot hide a match.
    static let steps = 1 << 17
    static let stepsPerByte = 32
    /// The heap limit of PCRE2's interpreter in KiB, for backtracking.
    private static let heap: UInt32 = 8192
    /// PCRE2's own limit for one start position, in addition to the step limit for all of them.
    private static let calls: UInt32 = 1 << 20
    /// The stack of compiled code, in bytes.
    private static let stack = (first: 32 << 10, most: 1 << 20)
    /// The groups `$0` to `$9`.
    private static let groups: UInt32 = 10

    private let data: OpaquePointer
    private let context: OpaquePointer
    private let machineStack: OpaquePointer?
    /// The number of groups that the last match wrote. Entries beyond it belong to an earlier match.
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
        // if this fails, compiled code uses the 32 KiB of the thread's stack that it takes by default
        machineStack = pcre2_jit_stack_create_8(Self.stack.first, Self.stack.most, nil)
        if let machineStack { pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(machineStack)) }
        // these calls cannot fail (pcre2_set_match_limit(3))
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

    // MARK: thread-local instance

    /// The context of the calling thread, freed when the thread ends. Nil if memory or thread-specific keys have run out.
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

    /// Resets the step allowance, for one match or for all matches of one replacement.
    func begin(_ code: PatternCode, count: Int) {
        stepCounter.pointee = usher_step_counter(
            work: 0, allowance: max(Self.steps, Self.stepsPerByte * count),
            cost: code.stepCost(on: count), last: 0)
    }

    /// Finds the first match at or after a position.
    /// - Parameter start: 0 for the first search. Later searches skip the UTF-8 check, which the first one has made; repeating it
    ///   for each match would cost quadratic time.
    func find(_ code: PatternCode, in subject: UnsafeBufferPointer<UInt8>, from start: Int = 0) -> Result {
        stepCounter.pointee.last = start
        let options = start > 0 ? PCRE2_NO_UTF_CHECK : 0
        let status = pcre2_match_8(code.pointer, subject.baseAddress, subject.count, start, options, data, context)
        switch status {
        // 0: the expression has more groups than there are places
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

    /// The range of a group in the last match; nil if the group did not take part.
    func group(_ number: Int) -> Range<Int>? {
        guard number < groupCount, let places = pcre2_get_ovector_pointer_8(data) else { return nil }
        // an unset group has PCRE2_UNSET in both places, which is -1 here
        let (lower, upper) = (places[2 * number], places[2 * number + 1])
        return lower >= 0 && lower <= upper ? lower..<upper : nil
    }
}
