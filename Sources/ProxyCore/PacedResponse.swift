import HTTPCodec

/// An answer that goes to the client later than it comes, or slower.
final class PacedResponse {
    let framing: BodyFraming
    /// Its head goes out no sooner.
    private let beginsAt: Int
    private(set) var hasStarted = false
    private var bytes: PacedBytes
    /// What stands behind the body, once all of it has come.
    private(set) var trailers: [UInt8]?

    /// - Parameters:
    ///   - delay: until the head goes out, in milliseconds.
    ///   - rate: bytes a second; nil for no limit.
    ///   - body: what of it is here.
    init(_ framing: BodyFraming, delay: Int, rate: Int?, body: [UInt8] = [], isWhole: Bool = false, now: Int) {
        self.framing = framing
        beginsAt = now + delay
        bytes = PacedBytes(rate: rate, body, now: beginsAt)
        if isWhole { trailers = [] }
    }

    var isFull: Bool { bytes.isFull }
    var isWhole: Bool { trailers != nil }
    /// Nothing more has to wait.
    var isDone: Bool { hasStarted && bytes.waiting == 0 && (isWhole || bytes.rate == nil) }

    func append(_ piece: Span<UInt8>) { bytes.append(piece) }

    func end(trailers: [UInt8]) { self.trailers = trailers }

    /// When something of what is here may go out; nil where it waits for more.
    func next(_ now: Int) -> Int? {
        if !hasStarted { return beginsAt }
        return bytes.next(now) ?? (isWhole ? now : nil)
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
}
