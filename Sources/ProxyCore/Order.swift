public import Authorization
internal import HTTPCodec
public import Interception
public import Passwords
public import TLSEngine

public enum Leg: UInt8, Sendable { case client, origin }

/// What a client's connection wants done. Orders are values; the driver carries them out in order and reports their
/// outcomes.
public enum Order: Sendable {
    /// A stream on a connection to this origin. Answered by `leased` or `leaseFailed`.
    case lease(ExchangeID, Origin, LeaseScope, LeaseVersion)
    /// Whether somebody is at that place, before its tunnel is answered. Answered by `leased` where that took a connection, by
    /// `reached` where it needed none, or by `leaseFailed`.
    case reach(ExchangeID, Origin)
    /// The exchange's stream carries a tunnel: the machine of a connection in there is `carried`. Answered by `notCarried` where
    /// there is no room for it.
    case carry(ExchangeID)
    /// The head of the request, for the leg of the exchange's stream: that one of `Outbox.heads`.
    case send(ExchangeID, head: Int)
    /// So many bytes of its body: the next ones of `Outbox.origin`.
    case sendBody(ExchangeID, Int)
    /// So many bytes of what is no message: the next ones of `Outbox.origin`, as they are.
    case sendRaw(ExchangeID, Int)
    /// The request is complete.
    case sendEnd(ExchangeID, trailers: [UInt8])
    /// The connection in use carries the client's identity: it serves no other client, and ends with this one.
    case bind(ExchangeID)
    /// The client has become another user: idle connections that carry its identity are closed.
    case unbind
    /// The client speaks TLS from here on, beginning with these bytes of its. Answered by `clientSecured` or
    /// `clientUnsecured`.
    indirect case secureClient(showing: ShownName, hello: [UInt8])
    /// The origin's stream is given back; its connection is closed when it cannot be used again.
    case release(ExchangeID, reusable: Bool)
    /// No more is sent to the client. It may still send.
    case finishClient
    /// No more is sent to the exchange's origin. It may still send.
    case finishOrigin(ExchangeID)
    /// The client's connection is closed: at once with a reset when the answer was cut short.
    case closeClient(reset: Bool)
    /// The password takes long to check. Answered by `authenticated`.
    indirect case authenticate(ExchangeID, PasswordCheck)
    /// Code of others works on a message, off the loop. Answered by `intercepted`, but for a call that was cancelled.
    indirect case intercept(ExchangeID, SwiftCall)
    /// The exchange waits for that no longer.
    case cancelIntercept(ExchangeID)
    /// The request waits at a limit: answered by `turnCame`, when its turn has come.
    case awaitTurn(ExchangeID, LimitTicket)
    /// A person is asked for the exchange's step-up: answered by `personSpoke`, when there is a word.
    case awaitPerson(ExchangeID, TransactionID)
    /// The exchange waits for what another one makes: answered by `flightCame`, when there is something to know.
    case awaitFlight(ExchangeID, FlightTicket)
    /// `woke` is called at that time, and not only when it is looked round for the next time.
    case wake(at: Int)
    /// The exchange is over: `takeRecord` has what is to be said of it.
    case record(ExchangeID)
    /// Bytes of the next request are already here: call `proceed`.
    case proceed

    /// What was written to the client goes out before it.
    public var mayConcernClient: Bool {
        switch self {
        case .lease, .reach, .send, .sendBody, .sendRaw, .sendEnd, .release, .record: false
        default: true
        }
    }
}

/// Whose certificate a client is shown.
public enum ShownName: Equatable, Sendable {
    case host(String)
    /// The listener's own; the name that the client asked for (SNI).
    case listener(String?)
}

/// What the driver is about on the way to an origin. Each has a time of its own.
public enum LeaseStep: UInt8, Sendable {
    /// The name is being looked up.
    case resolving
    case connecting
    /// There is a connection, and TLS is being agreed on.
    case securing
}

/// Why there is no connection to an origin.
public enum LeaseFailure: Error, Sendable {
    /// The name has no address. In words, and as DNS calls it where a server said so.
    case unresolvable(String, rcode: String? = nil)
    /// Nobody said in time whether the name has one.
    case unresolved
    case refused(String)
    case timedOut
    /// The configuration forbids the destination; the deciding entry.
    case forbidden(String)
    /// The destination is one of Usher's own listeners.
    case loop
    case failed(String)
    /// There is a connection, and no TLS on it.
    case insecure(TLSFault)
    /// Too many names are being looked up.
    case overloaded
    /// Too many of them for this client.
    case tooManyNames
    /// The upstream proxy makes no tunnel to the destination; the status of its answer.
    case tunnelRefused(status: Int)
}
