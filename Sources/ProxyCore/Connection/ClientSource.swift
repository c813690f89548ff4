public import Addresses
import HTTPCodec

/// Where a client's connection comes from.
public struct ClientSource: Sendable {
    /// The client's address; that of the balancer until its header was read.
    public internal(set) var address: IPAddress?
    /// The proxy's own address of the connection, where somebody wants to know it.
    public internal(set) var local: IPAddress?
    /// The listener speaks TLS itself.
    private(set) var isSecure: Bool
    /// A stream of another connection carries it (RFC 9113 §8.5).
    private(set) var isInStream = false
    /// Set until the header of the PROXY protocol was read: who may come by way of the balancer.
    var policy: ClientPolicy?
    /// Whose header of the PROXY protocol is, or will be, believed.
    private let balancer: IPAddress?

    /// - Parameters:
    ///   - isSecure: the listener speaks TLS itself.
    ///   - balancer: the policy, where the connection has to begin with a header of the PROXY protocol.
    public init(address: IPAddress?, local: IPAddress? = nil, isSecure: Bool = false, balancer: ClientPolicy? = nil) {
        self.address = address?.unmapped
        self.local = local?.unmapped
        self.isSecure = isSecure
        policy = balancer
        self.balancer = balancer == nil ? nil : address?.unmapped
    }

    /// Whether these rules would still have the connection.
    func isAdmitted(by clients: ClientPolicy) -> Bool {
        if let balancer, !clients.isBalancer(balancer) { return false }
        // for whom the balancer speaks is not known before its header
        guard policy == nil, let address else { return true }
        return clients.admits(address)
    }
}

extension ClientSource {
    /// The same client in a stream of its connection, where nothing comes before HTTP.
    var inStream: ClientSource {
        var source = self
        source.isSecure = false
        source.policy = nil
        source.isInStream = true
        return source
    }
}

extension ClientConnection {
    /// Who the client is where clients are counted.
    public var clientNetwork: AddressBlock? { context.source.address?.clientNetwork }
}
