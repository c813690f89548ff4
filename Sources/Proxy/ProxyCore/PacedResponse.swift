import HTTPCodec
import Interception

/// A response that goes to the client with a delay, a limited rate, or a changed end.
final class PacedResponse {
    /// The delay, rate and ending that interceptors request.
    struct Manner {
        /// The delay of the head, in milliseconds.
        var delay = 0
        /// Bytes a second; nil for no limit.
        var rate: Int?
        var cut: AnswerEnding.Cut?
        /// The delay of the response's end and of the connection's, in milliseconds.
        var hold = 0

        var isPlain: Bool { delay == 0 && rate == nil && cut == nil && hold == 0 }
    }

    /// The next step once all bytes that are due have gone out.
    enum Rest {
        /// Wait until that time to send more of the bytes here.
        case waits(until: Int)
        /// Wait for more bytes.
        case lacks
        /// Relay the rest unpaced.
        case passes
        case ends(trailers: [UInt8])
        case breaksOff(AnswerEnding.Cut)
    }

    let framing: BodyFraming
    /// Usher made the response itself.
    let isOwn: Bool
    private let manner: Manner
    /// The earliest time for the head.
    private let beginsAt: Int
    /// The earliest time for the end, once all bytes have gone out.
    private var endsAt: Int?
    private(set) var hasStarted = false
    private var bytes: PacedBytes
    /// The number of body bytes still allowed; further ones are cut off.
    private var room: Int
    private var hasExcess = false
    /// The trailers, once the whole body has come.
    private var trailers: [UInt8]?

    /// - Parameter body: the body bytes received so far.
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
    /// Whether the connection closes after the response.
    var isLast: Bool { manner.hold > 0 }

    func append(_ piece: Span<UInt8>) {
        let count = min(piece.count, room)
        if count < piece.count { hasExcess = true }
        room -= count
        bytes.append(piece.extracting(..<count))
    }

    func end(trailers: [UInt8]) { self.trailers = trailers }

    /// The time when bytes here may go out; nil when the response waits for more.
    func next(_ now: Int) -> Int? {
        if !hasStarted { return beginsAt }
        return bytes.next(now) ?? endsAt ?? (isWhole || hasExcess ? now : nil)
    }

    /// Whether the head may go out and has not.
    func begins(_ now: Int) -> Bool {
        guard !hasStarted, now >= beginsAt else { return false }
        hasStarted = true
        bytes.begin(now)
        return true
    }

    /// The bytes that may go out now.
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
