/// The nonces that resources want to see in proofs: each has its own (RFC 9449 §8.2).
public struct OriginNonces: Sendable {
    private var kept: [(origin: String, nonce: String)] = []

    /// The one that was told first is forgotten for another.
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
