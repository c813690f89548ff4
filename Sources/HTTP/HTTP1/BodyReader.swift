public import HTTPCodec

/// Removes the framing from a message body (RFC 9112 §6), in pieces of any size.
public struct BodyReader: Sendable {
    public enum Event: Equatable, Sendable {
        /// A range of the input that is body.
        case data(Range<Int>)
        /// The body is complete.
        case end
        /// The input is used up and the body is incomplete.
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

    /// - Parameter maxTrailerBytes: the limit of trailer fields behind a chunked body, in bytes.
    public mutating func begin(_ framing: BodyFraming, maxTrailerBytes: Int) {
        // this drops the trailers of the previous message, too
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

    /// The trailer fields as received, each line with its CRLF.
    public var trailers: [UInt8] { decoder.trailers }

    /// Returns the next event in `input` from `position` on, and advances `position`.
    /// - Throws: the errors of `ChunkedDecoder.next`.
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

    /// The number of next bytes that are body alone and may be forwarded unread; `UInt64.max` for a body that ends with the
    /// connection. Nil if the bytes must be read.
    public var raw: UInt64? {
        switch state {
        case .length(let missing): missing
        case .untilClose: .max
        case .complete, .chunked: nil
        }
    }

    /// Records that so many raw bytes were forwarded.
    public mutating func passed(_ count: UInt64) {
        guard case .length(let missing) = state else { return }
        state = count >= missing ? .complete : .length(missing - count)
    }

    /// Records that the connection ended.
    /// - Returns: true if that ends the body.
    public mutating func connectionEnded() -> Bool {
        guard case .untilClose = state else { return false }
        state = .complete
        return true
    }
}
