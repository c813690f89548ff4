import Formats
import HTTP1
import HTTPCodec

/// What an exchange of a dry run has of an origin.
final class DryLease: OriginWriter {
    let answer: DryAnswer?
    /// A call of Usher's own has it.
    let isCall: Bool
    var leg = HTTP1Client()
    /// What went by it; nil before, and where that is no message.
    private(set) var request: DryRequest?
    var isAnswered = false

    init(_ answer: DryAnswer?, isCall: Bool) {
        self.answer = answer
        self.isCall = isCall
    }

    var shared: (leg: any StreamClient, stream: StreamID)? { nil }
    /// It was asked, has not answered, and is none that never does.
    var owesAnswer: Bool { if case .never = answer { false } else { !isAnswered && leg.hasSent } }

    func send(_ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to wire: inout [UInt8]) {
        leg.send(head, forwarding, to: &wire)
        request = DryRequest(head: Self.asRead(copy head, wire), body: [], isCall: isCall)
    }

    func write(_ bytes: Span<UInt8>, to wire: inout [UInt8]) { request?.body.append(bytes) }

    /// Written by one leg and read by another. The password for an upstream proxy is nobody's to see.
    private static func asRead(_ head: RequestHead, _ wire: [UInt8]) -> RequestHead {
        var read = RequestHead()
        var reader = HTTP1Server()
        let limits = HeadLimits(bytes: wire.count, fields: wire.count, target: wire.count)
        do throws(HTTPFault) {
            guard try reader.readHead(wire.span, into: &read, limits: limits) != nil else { return head }
            // the Host field may be edited apart from the URL, so the URL is taken from the target
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
