import HTTP1
public import HTTPCodec

/// A response as the client or a caller gets it.
public struct DryResponse: Sendable {
    public var head: ResponseHead
    /// The body without its framing.
    public var body: [UInt8]
    /// False if the response was cut short.
    public var isWhole: Bool

}

extension DryResponse {
    /// The first final response in these bytes; nil if there is none.
    /// - Parameters:
    ///   - request: the request that it belongs to.
    ///   - endsCleanly: false if the connection was cut, so missing bytes are a fault.
    public init?(reading bytes: [UInt8], to request: RequestHead, endsCleanly: Bool = true) {
        var codec = HTTP1Client()
        var scratch: [UInt8] = []
        codec.send(request, Forwarding(framing: .none), to: &scratch)
        codec.end(to: &scratch)
        var position = 0
        var head: ResponseHead?
        var body: [UInt8] = []
        var isWhole = false
        let limits = HeadLimits(bytes: bytes.count, fields: bytes.count, target: bytes.count)
        reading: while let event = try? codec.read(bytes.span, &position, limits: limits, maxTrailerBytes: bytes.count)
        {
            switch event {
            case .needsMore: break reading
            case .interim: continue
            case .head: head = codec.head
            case .switched:
                head = codec.head
                isWhole = true
            case .data(let range): body += bytes[range]
            case .end:
                isWhole = true
                break reading
            }
        }
        guard let head else { return nil }
        if !isWhole, endsCleanly { isWhole = codec.ended(cleanly: true) }
        self.init(head: head, body: body, isWhole: isWhole)
    }
}
