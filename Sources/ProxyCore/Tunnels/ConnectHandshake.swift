internal import HTTP1
internal import HTTPCodec

/// The making of a tunnel through another proxy (RFC 9110 §9.3.6), as the client of that proxy.
public struct ConnectHandshake {
    public enum Outcome: Equatable, Sendable {
        case needsMore
        /// The tunnel stands. The first byte that came out of it is at this offset of what was given last.
        case established(at: Int)
        /// The proxy's answer is no success.
        case refused(status: Int)
        /// The proxy's answer breaks HTTP; in words.
        case broken(String)
    }

    private var leg = HTTP1Client()
    private var interims = 0
    private let limits: HeadLimits
    /// What to send first.
    public let request: [UInt8]

    /// Interim answers that are passed over.
    private static let maxInterims = 8

    public init(to origin: Origin, by proxy: UpstreamProxy, _ engine: Engine) {
        limits = engine.headLimits
        var out: [UInt8] = []
        leg.connect(to: "\(origin)", via: engine.via(received: .http11), lines: proxy.credentials, to: &out)
        request = out
    }

    public mutating func received(_ bytes: Span<UInt8>) -> Outcome {
        var position = 0
        do throws(HTTPFault) {
            while true {
                switch try leg.read(bytes, &position, limits: limits, maxTrailerBytes: 0) {
                case .needsMore: return .needsMore
                case .interim where interims < Self.maxInterims: interims += 1
                case .switched where leg.head.status != 101: return .established(at: position)
                case .interim, .switched, .head, .data, .end: return .refused(status: leg.head.status)
                }
            }
        } catch {
            return .broken("\(error.explanation) (\(error.code.rawValue))")
        }
    }
}
