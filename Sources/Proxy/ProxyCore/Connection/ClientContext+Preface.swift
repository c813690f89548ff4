import Addresses
import HTTPCodec

/// The PROXY protocol header that a balancer sends before the client's first byte.
extension ClientContext {
    enum Preface {
        case incomplete
        /// It is invalid, or names a client that is not admitted; with a description.
        case refused(String)
        /// The header was so many bytes.
        case read(Int)
        /// The same, and the client has its full share of connections.
        case tooMany
    }

    /// Reads the header, and takes the client's address from it.
    mutating func readPreface(_ bytes: Span<UInt8>, _ limits: Limits) -> Preface {
        switch ProxyProtocol.read(bytes) {
        case .needsMore: return .incomplete
        case .invalid:
            return .refused(
                "the connection of a balancer (clients.proxy_protocol) does not begin with a header of the PROXY protocol"
            )
        case .header(let count, let named):
            // no client is named: the balancer speaks for itself, and its own address counts
            if let named {
                source.address = IPAddress(bytes: named.address)?.unmapped
                if let address = source.address { name = address.text(withPort: named.port) }
            }
            guard let address = source.address, source.policy?.admits(address) == true else {
                return .refused("clients.allow does not hold the address that the balancer named")
            }
            source.policy = nil
            // the client was unknown when the balancer connected
            guard let share, !share.becomes(.network(address.clientNetwork), limits) else { return .read(count) }
            return .tooMany
        }
    }
}
