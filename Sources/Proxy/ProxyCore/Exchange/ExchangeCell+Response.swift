import HTTP1
import HTTPCodec
import Interception

/// Gives the exchange an origin's response, event by event. The caller of these methods settles the exchange afterwards,
/// unless only body bytes passed.
extension ExchangeCell {
    enum Progress {
        /// Body bytes went to the client, and nothing else changed.
        case passed
        case changed
        /// The origin's bytes hold no further event.
        case needsMore
        /// The response is invalid.
        case broke
    }

    /// Reads the next event.
    func readResponse(
        _ bytes: Span<UInt8>, _ position: inout Int, through origin: inout HTTP1Client, _ codec: inout ServerCodec,
        _ context: inout ClientContext, _ out: inout CommandBuffer
    ) -> Progress {
        let event: ResponseEvent
        do throws(HTTPFault) {
            event = try origin.read(
                bytes, &position, limits: exchange.engine.headLimits,
                maxTrailerBytes: exchange.engine.settings.limits.header)
        } catch {
            exchange.came(.broke(error), &context, &out)
            return .broke
        }
        if event == .needsMore { return .needsMore }
        if let progress = takeBody(event, bytes, trailers: origin.trailers, &codec, &context, &out) { return progress }
        takeHead(event, &origin.head, &context, &out)
        return .changed
    }

    /// Takes body bytes, or the end of the body.
    /// - Parameter trailers: called only when the body ends.
    /// - Returns: nil for any other event.
    func takeBody(
        _ event: ResponseEvent, _ bytes: Span<UInt8>, trailers: @autoclosure () -> [UInt8],
        _ codec: inout ServerCodec, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) -> Progress? {
        switch event {
        case .data(let range):
            let piece = bytes.extracting(range)
            if exchange.responseBodyCame(piece, &context, &out) == .pass {
                codec.write(piece, of: self, &out)
                return .passed
            }
        case .end: exchange.responseEnded(trailers: trailers(), &context, &out)
        case .needsMore, .interim, .head, .switched: return nil
        }
        return .changed
    }

    /// Takes a head, if the event is one.
    /// - Parameter head: the codec's head; the exchange may swap it for another.
    func takeHead(
        _ event: ResponseEvent, _ head: inout ResponseHead, _ context: inout ClientContext, _ out: inout CommandBuffer
    ) {
        switch event {
        case .needsMore, .data, .end: break
        case .interim: exchange.came(.interim(head), &context, &out)
        case .head(let framing):
            swap(&head, &exchange.response)
            exchange.came(.head(framing), &context, &out)
        case .switched:
            swap(&head, &exchange.response)
            exchange.came(.switched, &context, &out)
        }
    }
}
