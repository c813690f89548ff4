import Formats
import HTTP1
import HTTPCodec

/// An exchange's connection to an origin in a dry run.
final class DryLease: OriginWriter {
    let answer: DryAnswer?
    /// The lease is for a call by Usher.
    let isCall: Bool
    var codec = HTTP1Client()
    /// The request that was sent; nil before, or if its bytes are no message.
    private(set) var request: DryRequest?
    var isAnswered = false

    init(_ answer: DryAnswer?, isCall: Bool) {
        self.answer = answer
        self.isCall = isCall
    }

    /// The origin was asked and has not responded, and is not one that never does.
    var owesAnswer: Bool { if case .never = answer { false } else { !isAnswered && codec.hasSent } }

    func send(_ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to wire: inout [UInt8]) {
        codec.send(head, forwarding, to: &wire)
        request = DryRequest(head: Self.asRead(copy head, wire), body: [], isCall: isCall)
    }

    func write(_ bytes: Span<UInt8>, to wire: inout [UInt8]) { request?.body.append(bytes) }
    func writeRaw(_ bytes: Span<UInt8>, to wire: inout [UInt8]) {}
    func end(trailers: [UInt8], to wire: inout [UInt8]) { codec.end(trailers: trailers, to: &wire) }
    func finish(to wire: inout [UInt8]) {}

    /// Reads the written bytes back as a server does. It leaves out the password for an upstream proxy.
    private static func asRead(_ head: RequestHead, _ wire: [UInt8]) -> RequestHead {
        var read = RequestHead()
        var reader = HTTP1Server()
        let limits = HeadLimits(bytes: wire.count, fields: wire.count, target: wire.count)
        do throws(HTTPFault) {
            guard try reader.readHead(wire.span, into: &read, limits: limits) != nil else { return head }
            // takes the URL from the target, as interceptors may edit the Host field apart from it
            try read.adopt(authority: head.fields.text(head.target.authority), scheme: head.target.scheme)
        } catch {
            return head
        }
        if read.fields.contains(.proxyAuthorization) {
            read.fields.set("Proxy-Authorization", SecretTexts.replacement.description)
        }
        return read
    }
}
