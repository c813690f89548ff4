internal import HTTPCodec

/// Bounds of the control interface.
public enum ControlLimits {
    /// Connections at a time.
    public static let connections = 32
    /// Milliseconds for a request to come whole, and between two of them.
    public static let time = 10_000
    /// Bytes of a body.
    public static let body = 64 << 10
    static let head = HeadLimits(bytes: 8 << 10, fields: 64, target: 1 << 10)
    /// Milliseconds in which a client closes that was told so.
    public static let farewell = 2_000
}
