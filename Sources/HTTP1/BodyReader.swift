public import HTTPCodec

/// Takes the framing off a message's body (RFC 9112 §6), whatever pieces its bytes come in.
public struct BodyReader: Sendable {
    public enum Event: Equatable, Sendable {
        /// These bytes of the input are body.
        case data(Range<Int>)
        /// The body is complete.
        case end
        /// All of the input is used up and the body goes on.
        case needsMore
    }

    private enum State: Sendable {
        case complete
        case length(UInt64)
        case chunked
        case untilClose
    }

    private var state = State.complete
    private var decoder = ChunkedDecoder()

    public init() {}

    /// - Parameter maxTrailerBytes: of the trailer fields behind a chunked body.
    public mutating func begin(_ framing: BodyFraming, maxTrailerBytes: Int) {
        // the trailers of the message before go with it
        decoder.reset(maxTrailerBytes: maxTrailerBytes)
        switch framing {
        case .none: state = .complete
        case .length(let length): state = length == 0 ? .complete : .length(length)
        case .chunked: state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    public var isComplete: Bool {
        if case .complete = state { true } else { false }
    }

    /// Trailer fields as they came, each line with its CRLF.
    public var trailers: [UInt8] { decoder.trailers }

    /// The next event in `input` from `position` on, which is moved past what was used.
    /// - Throws: what `ChunkedDecoder.next` does.
    public mutating func next(_ input: Span<UInt8>, _ position: inout Int) throws(HTTPFault) -> Event {
        switch state {
        case .complete: return .end
        case .length(let missing):
            let start = position
            let taken = min(missing, UInt64(input.count - start))
            guard taken > 0 else { return .needsMore }
            position += Int(taken)
            state = taken == missing ? .complete : .length(missing - taken)
            return .data(start..<position)
        case .chunked:
            switch try decoder.next(input, &position) {
            case .data(let range): return .data(range)
            case .needsMore: return .needsMore
            case .end:
                state = .complete
                return .end
            }
        case .untilClose:
            let start = position
            guard start < input.count else { return .needsMore }
            position = input.count
            return .data(start..<position)
        }
    }

    /// How many of the next bytes are body and nothing else, so that they can be passed on without a look; `UInt64.max`
    /// where the body goes on until the connection ends. Nil where they have to be read.
    public var raw: UInt64? {
        switch state {
        case .length(let missing): missing
        case .untilClose: .max
        case .complete, .chunked: nil
        }
    }

    /// So many of them were passed on.
    public mutating func passed(_ count: UInt64) {
        guard case .length(let missing) = state else { return }
        state = count >= missing ? .complete : .length(missing - count)
    }

    /// The connection has ended.
    /// - Returns: true where that is how the body ends.
    public mutating func connectionEnded() -> Bool {
        guard case .untilClose = state else { return false }
        state = .complete
        return true
    }
}
