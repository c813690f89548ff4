public import Interception
public import Passwords
public import TLSEngine

public enum ConnectionSide: UInt8, Sendable { case client, origin }

/// A command of a client's connection to the driver. Commands are values; the driver executes them in sequence and reports
/// their outcomes.
public enum DriverCommand: Sendable {
    /// Lease a stream on a connection to this origin. Reported by `leased` or `leaseFailed`.
    case lease(ExchangeID, Origin, LeaseScope, LeaseVersion)
    /// Check that the destination is reachable before CONNECT is answered. Reported by `leased` if that took a connection, by
    /// `reached` if it needed none, or by `leaseFailed`.
    case reach(ExchangeID, Origin)
    /// Start a child connection for the tunnel in the exchange's stream: `carried` makes it. Reported by `notCarried` if
    /// there is no room for it.
    case carry(ExchangeID)
    /// Send the request's head on the exchange's stream: the one at this index of `CommandBuffer.heads`.
    case send(ExchangeID, head: Int)
    /// Send so many body bytes: the next ones of `CommandBuffer.origin`.
    case sendBody(ExchangeID, Int)
    /// Send so many raw bytes without framing: the next ones of `CommandBuffer.origin`.
    case sendRaw(ExchangeID, Int)
    /// End the request.
    case sendEnd(ExchangeID, trailers: [UInt8])
    /// Bind the connection in use to the client, because it carries its identity: it serves no other client and ends with it.
    case bind(ExchangeID)
    /// Close idle connections that carry the client's identity, because the client is now another user.
    case unbind
    /// Start TLS with the client, beginning with these bytes of its ClientHello. Reported by `clientSecured` or
    /// `clientUnsecured`.
    indirect case secureClient(showing: ShownName, hello: [UInt8])
    /// Give back the origin's stream; its connection is closed unless it is reusable.
    case release(ExchangeID, reusable: Bool)
    /// End the sending side to the client. It may still send.
    case finishClient
    /// End the sending side to the exchange's origin. It may still send.
    case finishOrigin(ExchangeID)
    /// Close the client's connection; at once with a reset when its response was cut short.
    case closeClient(reset: Bool)
    /// Check a password off the loop, because that is slow. Reported by `authenticated`.
    indirect case authenticate(ExchangeID, PasswordCheck)
    /// Run external code on a message, off the loop. Reported by `intercepted`, unless the call is cancelled.
    indirect case intercept(ExchangeID, SwiftCall)
    /// Cancel the external code of the exchange.
    case cancelIntercept(ExchangeID)
    /// Wait for another exchange, a turn at a limit, or a person. Reported by `ticketCame`.
    case awaitTicket(ExchangeID, WaitingTicket)
    /// Call `woke` at that time exactly, even between the regular checks of timeouts.
    case wake(at: Int)
    /// The exchange is over: `takeRecord` returns its record.
    case record(ExchangeID)
    /// Bytes of the next request are already here: call `proceed`.
    case proceed

    /// Whether to send the client's bytes before executing the order.
    public var mayConcernClient: Bool {
        switch self {
        case .lease, .reach, .send, .sendBody, .sendRaw, .sendEnd, .release, .record: false
        default: true
        }
    }
}

/// The certificate to show a client.
public enum ShownName: Equatable, Sendable {
    case host(String)
    /// The listener's own certificate; with the name that the client asked for (SNI).
    case listener(String?)
}

/// A step on the way to an origin. Each has its own timeout.
public enum LeaseStep: UInt8, Sendable {
    /// The host name is being resolved.
    case resolving
    case connecting
    /// The connection stands, and the TLS handshake is under way.
    case securing
}

/// The reason why a connection to an origin failed.
public enum LeaseFailure: Error, Sendable {
    /// The name has no address; with a description and, if a DNS server responded, its response code.
    case unresolvable(String, rcode: String? = nil)
    /// The name was not resolved in time.
    case unresolved
    case refused(String)
    case timedOut
    /// The configuration forbids the destination; with the deciding entry.
    case forbidden(String)
    /// The destination is one of Usher's own listeners.
    case loop
    case failed(String)
    /// The connection was made, and TLS failed.
    case insecure(TLSFault)
    /// Too many name lookups are under way.
    case overloaded
    /// Too many name lookups are under way for this client.
    case tooManyNames
    /// The upstream proxy refused the tunnel; with the status of its response.
    case tunnelRefused(status: Int)

    /// A failure that an interceptor pretends; nil for one after the connection was made.
    init?(_ fault: OriginFault) {
        switch fault {
        case .unresolvable: self = .unresolvable("it does not exist (NXDOMAIN)", rcode: "NXDOMAIN")
        case .unresolved: self = .unresolved
        case .connectionRefused: self = .refused("connection refused")
        case .connectionTimeout: self = .timedOut
        case .unreachable: self = .failed("no route to host")
        case .tls: self = .insecure(.closedInHandshake)
        default: return nil
        }
    }
}
