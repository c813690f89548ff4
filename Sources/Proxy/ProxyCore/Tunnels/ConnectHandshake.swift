internal import HTTP1
internal import HTTPCodec

/// Makes a tunnel through another proxy, as that proxy's client (RFC 9110 §9.3.6).
public struct ConnectHandshake {
    public enum Outcome: Equatable, Sendable {
        case needsMore
        /// The tunnel stands. Its first byte is at this offset of the bytes given last.
        case established(at: Int)
        /// The proxy's response has no 2xx status.
        case refused(status: Int)
        /// The proxy's response is invalid HTTP; with a description.
        case broken(String)
    }

    private var codec = HTTP1Client()
    private var interims = 0
    private let limits: HeadLimits
    /// The bytes to send first.
    public let request: [UInt8]

    /// The most interim responses to skip.
    private static let maxInterims = 8

    public init(to origin: Origin, by proxy: UpstreamProxy, _ engine: Engine) {
        limits = engine.headLimits
        var out: [UInt8] = []
        codec.connect(to: "\(origin)", via: engine.via(received: .http11), lines: proxy.credentials, to: &out)
        request = out
    }

    public mutating func received(_ bytes: Span<UInt8>) -> Outcome {
        var position = 0
        do throws(HTTPFault) {
            while true {
                switch try codec.read(bytes, &position, limits: limits, maxTrailerBytes: 0) {
                case .needsMore: return .needsMore
                case .interim where interims < Self.maxInterims: interims += 1
                case .switched where codec.head.status != 101: return .established(at: position)
                case .interim, .switched, .head, .data, .end: return .refused(status: codec.head.status)
                }
            }
        } catch {
            return .broken("\(error.explanation) (\(error.code.rawValue))")
        }
    }
}
