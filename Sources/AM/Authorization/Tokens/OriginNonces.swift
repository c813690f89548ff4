/// The DPoP nonces of resource servers, one for each origin (RFC 9449 §8.2).
public struct OriginNonces: Sendable {
    private var kept: [(origin: String, nonce: String)] = []

    /// The limit of origins. Beyond it, the oldest is dropped.
    private static let most = 32

    public init() {}

    /// - Parameter origin: scheme, host and port.
    public subscript(origin: String) -> String? {
        get { kept.first { $0.origin == origin }?.nonce }
        set {
            kept.removeAll { $0.origin == origin }
            guard let newValue else { return }
            if kept.count >= Self.most { kept.removeFirst() }
            kept.append((origin, newValue))
        }
    }
}
