import HTTPCodec

/// What the codecs of these tests speak: frames with a number on them. One byte of kind, four of the stream, four of length.
struct Frame: Equatable {
    enum Kind: UInt8 {
        /// A message's head as HTTP/1 writes it.
        case head = 1
        case data
        /// The message is whole. Trailers as HTTP/1 writes them.
        case end
        case reset
        /// The peer may send so many bytes more: eight bytes.
        case credit
        /// No further streams.
        case leave
        /// There may be so many streams at a time: four bytes.
        case limit
        case ping
        case pong
    }

    var kind: Kind
    var stream: UInt32
    var payload: [UInt8] = []

    static let headerSize = 9
    static let window = 64 << 10

    init(_ kind: Kind, _ stream: UInt32, _ payload: [UInt8] = []) {
        self.kind = kind
        self.stream = stream
        self.payload = payload
    }

    init(_ kind: Kind, _ stream: UInt32, _ text: String) { self.init(kind, stream, Array(text.utf8)) }

    static func credit(_ count: Int, _ stream: UInt32) -> Frame { Frame(.credit, stream, bytes(UInt32(count))) }

    static func limit(_ count: Int) -> Frame { Frame(.limit, 0, bytes(UInt32(count))) }
    /// Nothing was made of the stream's request.
    static func untouched(_ stream: UInt32) -> Frame { Frame(.reset, stream, "untouched") }

    var count: Int { payload.reduce(0) { $0 << 8 | Int($1) } }
    var text: String { String(decoding: payload, as: UTF8.self) }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    var written: [UInt8] { [kind.rawValue] + Self.bytes(stream) + Self.bytes(UInt32(payload.count)) + payload }

    struct Broken: Error {}
}

/// Frames as they come out of bytes in whatever pieces.
struct FrameReader {
    enum Piece: Equatable {
        /// Any frame but data.
        case frame(Frame)
        /// These bytes of the input are data of that stream.
        case data(UInt32, Range<Int>)
    }

    private var header: [UInt8] = []
    /// The frame that has begun, as far as it has come.
    private var frame: Frame?
    private var left = 0

    /// The next piece of the input from `position` on, which is moved past it; nil where more is needed.
    /// - Throws: `Frame.Broken` for a kind that there is not.
    mutating func next(_ input: Span<UInt8>, _ position: inout Int) throws(Frame.Broken) -> Piece? {
        while frame == nil {
            guard position < input.count else { return nil }
            header.append(input[position])
            position += 1
            guard header.count == Frame.headerSize else { continue }
            guard let kind = Frame.Kind(rawValue: header[0]) else { throw Frame.Broken() }
            let numbers = header.dropFirst().map { Int($0) }
            left = numbers[4...].reduce(0) { $0 << 8 | $1 }
            frame = Frame(kind, UInt32(numbers[..<4].reduce(0) { $0 << 8 | $1 }))
            header = []
        }
        guard var current = frame else { return nil }
        let start = position
        let count = min(left, input.count - position)
        position += count
        left -= count
        if current.kind == .data {
            if left == 0 { frame = nil }
            return count > 0 || left == 0 ? .data(current.stream, start..<position) : nil
        }
        for index in start..<position { current.payload.append(input[index]) }
        frame = left == 0 ? nil : current
        return left == 0 ? .frame(current) : nil
    }
}

extension FrameReader {
    mutating func nextPiece(_ input: Span<UInt8>, _ position: inout Int) throws(HTTPFault) -> Piece? {
        do throws(Frame.Broken) {
            return try next(input, &position)
        } catch {
            throw HTTPFault(.badRequestLine, at: 0)
        }
    }
}

/// Messages on their way out, as far as the peer's windows have room.
struct FrameWriter {
    private struct Outgoing {
        var window = Frame.window
        var waiting: [UInt8] = []
        var end: [UInt8]?
    }

    private var streams: [UInt32: Outgoing] = [:]

    mutating func begin(_ stream: UInt32) { streams[stream] = Outgoing() }

    mutating func write(_ bytes: Span<UInt8>, _ stream: UInt32, to out: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { streams[stream]?.waiting.append(contentsOf: $0) }
        flush(stream, to: &out)
    }

    mutating func end(_ trailers: [UInt8], _ stream: UInt32, to out: inout [UInt8]) {
        streams[stream]?.end = trailers
        flush(stream, to: &out)
    }

    mutating func drop(_ stream: UInt32) { streams[stream] = nil }
    func waiting(_ stream: UInt32) -> Int { streams[stream]?.waiting.count ?? 0 }
    func isOpen(_ stream: UInt32) -> Bool { streams[stream] != nil }

    /// - Returns: true where nothing waits any more that did.
    mutating func grant(_ count: Int, _ stream: UInt32, to out: inout [UInt8]) -> Bool {
        let before = waiting(stream)
        streams[stream]?.window += count
        flush(stream, to: &out)
        return before > 0 && waiting(stream) == 0
    }

    private mutating func flush(_ stream: UInt32, to out: inout [UInt8]) {
        guard var state = streams[stream] else { return }
        let count = min(state.window, state.waiting.count)
        if count > 0 {
            out += Frame(.data, stream, Array(state.waiting[..<count])).written
            state.waiting.removeFirst(count)
            state.window -= count
        }
        guard state.waiting.isEmpty, let trailers = state.end else { return streams[stream] = state }
        out += Frame(.end, stream, trailers).written
        streams[stream] = nil
    }
}
