public import Addresses
import HTTPCodec

/// The source of a client's connection.
public struct ClientSource: Sendable {
    /// The client's address; the balancer's until its header is read.
    public internal(set) var address: IPAddress?
    /// The proxy's own address of the connection, if it is needed.
    public internal(set) var local: IPAddress?
    /// The listener speaks TLS itself.
    private(set) var isSecure: Bool
    /// The connection is carried by a stream of another one (RFC 9113 §8.5).
    private(set) var isInStream = false
    /// The id of the test session whose port the client uses.
    let testSession: String?
    /// The client policy, until the PROXY protocol header is read.
    var policy: ClientPolicy?
    /// The balancer whose PROXY protocol header is trusted.
    private let balancer: IPAddress?

    /// - Parameters:
    ///   - isSecure: the listener speaks TLS itself.
    ///   - testSession: the id of the test session, when the listener is for one.
    ///   - balancer: the policy, when the connection must begin with a PROXY protocol header.
    public init(
        address: IPAddress?, local: IPAddress? = nil, isSecure: Bool = false, testSession: String? = nil,
        balancer: ClientPolicy? = nil
    ) {
        self.testSession = testSession
        self.address = address?.unmapped
        self.local = local?.unmapped
        self.isSecure = isSecure
        policy = balancer
        self.balancer = balancer == nil ? nil : address?.unmapped
    }

    /// Whether these rules still admit the connection.
    func isAdmitted(by clients: ClientPolicy) -> Bool {
        if let balancer, !clients.isBalancer(balancer) { return false }
        // the client behind a balancer is unknown before the header
        guard policy == nil, let address else { return true }
        return clients.admits(address)
    }
}

extension ClientSource {
    /// The same client in a stream of its connection, where HTTP begins at once.
    var inStream: ClientSource {
        var source = self
        source.isSecure = false
        source.policy = nil
        source.isInStream = true
        return source
    }
}
