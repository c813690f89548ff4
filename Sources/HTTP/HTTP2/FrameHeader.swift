import CNghttp2

/// The nine bytes of a frame header (RFC 9113 §4.1) and some fields after it: the increment of a WINDOW_UPDATE, the dependency of
/// PRIORITY or HEADERS, the padding length of DATA.
struct FrameHeader {
    static let size = 9

    let length: Int
    let kind: UInt8
    let flags: UInt8
    let stream: Int32
    /// The increment of a WINDOW_UPDATE; nil for other frames or a wrong length.
    let grant: UInt32?

    /// The body bytes of a DATA frame; 0 if the padding exceeds the frame.
    let body: Int

    /// True if the stream depends on itself.
    let dependsOnItself: Bool

    /// The bytes of a frame that are inspected before it is passed on.
    static func lookedAt(_ bytes: Span<UInt8>, at start: Int) -> Int {
        if isGrant(bytes, at: start) { return size + 4 }
        if let place = dependency(bytes, at: start) { return place + 4 }
        return isPadded(bytes, at: start) ? size + 1 : size
    }

    private static func isPadded(_ bytes: Span<UInt8>, at start: Int) -> Bool {
        bytes[start + 3] == FrameKind.data && bytes[start + 4] & UInt8(NGHTTP2_FLAG_PADDED.rawValue) != 0
            && bytes[start] | bytes[start + 1] | bytes[start + 2] != 0
    }

    /// The offset of the stream dependency in the frame; nil if there is none.
    static func dependency(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        let (kind, flags) = (bytes[start + 3], bytes[start + 4])
        var place = size
        switch kind {
        case FrameKind.priority: break
        case FrameKind.headers:
            guard flags & UInt8(NGHTTP2_FLAG_PRIORITY.rawValue) != 0 else { return nil }
            if flags & UInt8(NGHTTP2_FLAG_PADDED.rawValue) != 0 { place += 1 }
        default: return nil
        }
        return place + 5 <= size + length(bytes, at: start) ? place : nil
    }

    private static func length(_ bytes: Span<UInt8>, at start: Int) -> Int {
        Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
    }

    private static func isGrant(_ bytes: Span<UInt8>, at start: Int) -> Bool {
        bytes[start + 3] == FrameKind.windowUpdate && bytes[start] == 0 && bytes[start + 1] == 0
            && bytes[start + 2] == 4
    }

    /// - Parameter start: the start of a frame with all inspected bytes.
    init(_ bytes: Span<UInt8>, at start: Int) {
        length = Self.length(bytes, at: start)
        body = Self.isPadded(bytes, at: start) ? max(0, length - 1 - Int(bytes[start + 9])) : length
        kind = bytes[start + 3]
        flags = bytes[start + 4]
        // the first bit is reserved
        stream = Int32(bitPattern: Self.number(bytes, at: start + 5) & 0x7FFF_FFFF)
        let other = Self.dependency(bytes, at: start).map { Self.number(bytes, at: start + $0) & 0x7FFF_FFFF }
        dependsOnItself = other == UInt32(bitPattern: stream)
        grant = Self.isGrant(bytes, at: start) ? Self.number(bytes, at: start + 9) & 0x7FFF_FFFF : nil
    }

    private static func number(_ bytes: Span<UInt8>, at start: Int) -> UInt32 {
        UInt32(bytes[start]) << 24 | UInt32(bytes[start + 1]) << 16 | UInt32(bytes[start + 2]) << 8
            | UInt32(bytes[start + 3])
    }

    var endsStream: Bool { flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 }
    var endsFields: Bool { flags & UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue) != 0 }
    var isAnswer: Bool { flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 }
}

/// The types of frames on the wire.
enum FrameKind {
    static let data = UInt8(NGHTTP2_DATA.rawValue)
    static let headers = UInt8(NGHTTP2_HEADERS.rawValue)
    static let priority = UInt8(NGHTTP2_PRIORITY.rawValue)
    static let reset = UInt8(NGHTTP2_RST_STREAM.rawValue)
    static let settings = UInt8(NGHTTP2_SETTINGS.rawValue)
    static let pushPromise = UInt8(NGHTTP2_PUSH_PROMISE.rawValue)
    static let ping = UInt8(NGHTTP2_PING.rawValue)
    static let goAway = UInt8(NGHTTP2_GOAWAY.rawValue)
    static let windowUpdate = UInt8(NGHTTP2_WINDOW_UPDATE.rawValue)
    static let continuation = UInt8(NGHTTP2_CONTINUATION.rawValue)
}
