import Formats
public import HTTPCodec

/// Writes a message body with the framing that its head announced (RFC 9112 §6).
public struct BodyWriter: Sendable {
    private enum State: Sendable {
        /// No body follows the head: the response is to HEAD, or its status allows none.
        case none
        /// The bytes are written unchanged.
        case plain
        case chunked
    }

    private var state = State.none

    public init() {}

    public mutating func begin(_ framing: BodyFraming) {
        switch framing {
        case .none: state = .none
        case .length, .untilClose: state = .plain
        case .chunked: state = .chunked
        }
    }

    public func write(_ bytes: Span<UInt8>, to out: inout [UInt8]) {
        switch state {
        case .none: break
        case .plain: out.append(bytes)
        case .chunked: out.append(chunk: bytes)
        }
    }

    public mutating func end(trailers: [UInt8] = [], to out: inout [UInt8]) {
        if case .chunked = state { out.appendLastChunk(trailers: trailers) }
        state = .none
    }

    /// Whether body bytes may be written unchanged.
    public var isPlain: Bool {
        if case .plain = state { true } else { false }
    }

    /// Whether body bytes are discarded.
    public var isEmpty: Bool {
        if case .none = state { true } else { false }
    }
}
