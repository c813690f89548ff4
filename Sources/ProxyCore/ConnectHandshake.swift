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

    private var parser = HeadParser()
    private var response = ResponseHead()
    /// Bytes of an answer that is not whole yet.
    private var pending: [UInt8] = []
    private var interims = 0
    private let limits: HeadLimits
    /// What to send first.
    public let request: [UInt8]

    /// Interim answers that are passed over.
    private static let maxInterims = 8

    public init(to origin: Origin, by proxy: UpstreamProxy, _ engine: Engine) {
        limits = engine.headLimits
        var out = Array("CONNECT \(origin) HTTP/1.1\r\nHost: \(origin)\r\n".utf8)
        out.append(literal: "Via: ")
        out.append(contentsOf: engine.via(received: .http11))
        out.append(literal: "\r\n")
        out.append(contentsOf: proxy.credentials)
        out.append(literal: "\r\n")
        request = out
    }

    public mutating func received(_ bytes: Span<UInt8>) -> Outcome {
        let before = pending.count
        var buffer: [UInt8] = []
        swap(&buffer, &pending)
        buffer.append(bytes)
        var position = 0
        do throws(HTTPFault) {
            while let used = try parser.parse(buffer.span.extracting(position...), into: &response, limits: limits) {
                position += used
                switch response.status {
                case 200...299:
                    // a length or coding in such an answer counts for nothing: the tunnel begins here
                    return .established(at: position - before)
                case 100...199 where response.status != 101 && interims < Self.maxInterims: interims += 1
                default: return .refused(status: response.status)
                }
            }
        } catch {
            return .broken("\(error.explanation) (\(error.code.rawValue))")
        }
        buffer.removeFirst(position)
        pending = buffer
        return .needsMore
    }
}
