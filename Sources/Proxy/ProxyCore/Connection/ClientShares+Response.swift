import HTTP1
import HTTPCodec

extension ClientShares.Refusal {
    /// The HTTP/1.1 response to a client that has too many connections.
    public var response: [UInt8] {
        switch self {
        case .all: Self.tooManyConnections
        case .client: Self.tooManyOfClient
        }
    }

    private static let tooManyConnections = refused(ProxyError(.all))
    private static let tooManyOfClient = refused(ProxyError(.client))

    private static func refused(_ error: ProxyError) -> [UInt8] {
        let response = OwnResponse.error(error, flow: 0, to: RequestHead(), date: [])
        var codec = HTTP1Server()
        var manner = ResponseManner()
        manner.isLast = true
        var out: [UInt8] = []
        codec.respond(response.head, .length(UInt64(response.body.count)), manner, to: &out)
        codec.write(response.body.span, to: &out)
        return out
    }
}

extension ProxyError {
    init(_ refusal: ClientShares.Refusal) {
        switch refusal {
        case .all: self = .tooManyConnections("there are as many connections as limits.connections allows")
        case .client: self = .tooManyOfClient("this address")
        }
    }
}
