/// Why a stream or a connection that carries many was ended by its peer (RFC 9113 §7).
public struct StreamErrorCode: RawRepresentable, Equatable, Sendable, CustomStringConvertible {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let none = StreamErrorCode(rawValue: 0)
    public static let internalError = StreamErrorCode(rawValue: 2)
    public static let refused = StreamErrorCode(rawValue: 7)
    public static let cancelled = StreamErrorCode(rawValue: 8)

    /// The names by number.
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The name in the standard; the number of an unknown code.
    public var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "0x" + String(rawValue, radix: 16)
    }

    /// The peer says that this side broke the protocol.
    public var blamesProtocol: Bool {
        switch rawValue {
        case 1, 3, 4, 5, 6, 9: true
        default: false
        }
    }
}
