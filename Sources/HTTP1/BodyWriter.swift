import Formats
public import HTTPCodec

/// Puts the framing around a message's body that its head announced (RFC 9112 §6).
public struct BodyWriter: Sendable {
    private enum State: Sendable {
        /// No body follows the head, whatever comes: it answers HEAD, or its status has none.
        case none
        /// The bytes as they are.
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

    /// What is body may be written as it is.
    public var isPlain: Bool {
        if case .plain = state { true } else { false }
    }

    /// Body bytes go nowhere.
    public var isEmpty: Bool {
        if case .none = state { true } else { false }
    }
}
