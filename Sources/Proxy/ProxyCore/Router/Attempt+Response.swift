import HTTPCodec
import Interception

/// Judges the head of a response by what the attempt asked for.
extension Attempt {
    /// The size that an interim response counts for besides its fields, in bytes.
    private static let leastInterim = 64

    /// Counts an interim response: they come at any pace, and no flow-control window limits them.
    /// - Returns: false when there are too many.
    mutating func takesInterim(_ head: borrowing ResponseHead, limit: Int) -> Bool {
        lease.interimBytes += head.fields.bytes.count + Self.leastInterim
        return lease.interimBytes <= limit
    }

    /// The reason why a final response cannot be the origin's: an upstream proxy refuses Usher's credentials.
    func refusal(of response: borrowing ResponseHead) -> ProxyError? {
        guard response.status == 407, let origin, case .forward = origin.route else { return nil }
        return .credentialsRefused(origin.peer)
    }

    /// The reason why the origin's switch to another protocol is no answer to the request. Puts the key for the client into the
    /// response.
    func refusal(ofSwitch response: inout ResponseHead, to request: borrowing RequestHead) -> ProxyError? {
        guard offersUpgrade else { return .badResponse("the origin switched protocols without being asked") }
        if response.version == .http2 {
            if request.version != .http2, let key = WebSocketKey(of: request) {
                response.fields.set(WebSocketKey.answerName, key.answer)
            }
        } else if let socketKey {
            guard response.fields[WebSocketKey.answerName] == socketKey.answer else {
                return .badResponse("the origin switched to a WebSocket without its Sec-WebSocket-Accept")
            }
            response.fields.remove(named: WebSocketKey.answerName)
        }
        return nil
    }

    /// How the client gets the head.
    /// - Parameter isLast: the connection closes after the response.
    func manner(of response: borrowing ResponseHead, isLast: Bool) -> HeadManner {
        var manner = HeadManner(isLast: isLast)
        if isBinding, response.fields.hasConnectionChallenge {
            // RFC 4559 §6: the client answers such a challenge only if it knows that its connection is not shared
            manner.lines = Self.keepsConnections
        }
        return manner
    }

    private static let keepsConnections = Array("Proxy-Support: Session-Based-Authentication\r\n".utf8)

    /// The delay, the pace and the ending that interceptors wish for the response.
    func pace(_ outcome: Outcome, _ log: inout ExchangeLog, _ now: Int) -> PacedResponse.Manner {
        var ending = wishes.ending
        ending.add(outcome.ending)
        return PacedResponse.Manner(
            delay: log.drawn(outcome.delays, now), rate: outcome.rate, cut: ending.cut, hold: log.held(ending, now))
    }
}
