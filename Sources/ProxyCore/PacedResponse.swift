import HTTPCodec
import Interception

/// An answer that goes to the client later than it comes, or slower, or ends otherwise than it would.
final class PacedResponse {
    /// What interceptors want of it.
    struct Manner {
        /// Until the head goes out, in milliseconds.
        var delay = 0
        /// Bytes a second; nil for no limit.
        var rate: Int?
        var cut: AnswerEnding.Cut?
        /// How much later its end comes, and with it that of the connection.
        var hold = 0

        var isPlain: Bool { delay == 0 && rate == nil && cut == nil && hold == 0 }
    }

    /// What is to be done once all has gone out that may go by now.
    enum Rest {
        /// More of what is here may go then.
        case waits(until: Int)
        /// More of it has to come.
        case lacks
        /// What is still to come may pass as it is.
        case passes
        case ends(trailers: [UInt8])
        case breaksOff(AnswerEnding.Cut)
    }

    let framing: BodyFraming
    /// It was made here.
    let isOwn: Bool
    private let manner: Manner
    /// Its head goes out no sooner.
    private let beginsAt: Int
    /// Its end comes no sooner, once all else has gone out.
    private var endsAt: Int?
    private(set) var hasStarted = false
    private var bytes: PacedBytes
    /// So much of the body may still come, and what came beyond it.
    private var room: Int
    private var hasExcess = false
    /// What stands behind the body, once all of it has come.
    private var trailers: [UInt8]?

    /// - Parameter body: what of it is here.
    init(
        _ framing: BodyFraming, _ manner: Manner, body: [UInt8] = [], isWhole: Bool = false, isOwn: Bool = false,
        now: Int
    ) {
        self.framing = framing
        self.isOwn = isOwn
        self.manner = manner
        beginsAt = now + manner.delay
        room = manner.cut?.bytes ?? .max
        bytes = PacedBytes(rate: manner.rate, now: beginsAt)
        append(body.span)
        if isWhole { trailers = [] }
    }

    var isFull: Bool { bytes.isFull }
    var isWhole: Bool { trailers != nil }
    /// The connection closes after it.
    var isLast: Bool { manner.hold > 0 }

    func append(_ piece: Span<UInt8>) {
        let count = min(piece.count, room)
        if count < piece.count { hasExcess = true }
        room -= count
        bytes.append(piece.extracting(..<count))
    }

    func end(trailers: [UInt8]) { self.trailers = trailers }

    /// When something of what is here may go out; nil where it waits for more.
    func next(_ now: Int) -> Int? {
        if !hasStarted { return beginsAt }
        return bytes.next(now) ?? endsAt ?? (isWhole || hasExcess ? now : nil)
    }

    /// The head may go out, and has not.
    func begins(_ now: Int) -> Bool {
        guard !hasStarted, now >= beginsAt else { return false }
        hasStarted = true
        bytes.begin(now)
        return true
    }

    /// What may go out by now.
    func take(_ now: Int) -> [UInt8] { hasStarted ? bytes.take(now) : [] }

    func rest(_ now: Int) -> Rest {
        guard hasStarted, bytes.waiting == 0 else { return next(now).map { .waits(until: $0) } ?? .lacks }
        if hasExcess, let cut = manner.cut { return .breaksOff(cut) }
        guard let trailers else {
            return manner.rate == nil && manner.cut == nil && manner.hold == 0 ? .passes : .lacks
        }
        let end = endsAt ?? now + manner.hold
        endsAt = end
        return now < end ? .waits(until: end) : .ends(trailers: trailers)
    }
}
