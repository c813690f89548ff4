internal import HTTPCodec
public import TLSEngine

public enum Leg: UInt8, Sendable { case client, origin }

/// What a session wants done. Orders are values; the driver carries them out in order and reports their outcomes.
public enum Order: Sendable {
    /// A connection to this origin. Answered by `Session.leased` or `Session.leaseFailed`.
    case lease(Origin, LeaseScope)
    /// The connection in use carries the client's identity: it serves no other client, and ends with this one.
    case bind
    /// The client has become another user: idle connections that carry its identity are closed.
    case unbind
    /// The next bytes of that leg go straight to the other one. Answered by `Session.relayed` when all have gone, by
    /// `Session.ended` when the leg ends before.
    case relay(from: Leg, count: UInt64)
    /// Both legs feed each other until both have ended.
    case tunnel
    /// The client speaks TLS from here on, beginning with these bytes of its. Answered by `Session.clientSecured` or
    /// `Session.clientUnsecured`.
    indirect case secureClient(showing: ShownName, hello: [UInt8])
    /// The leg is not read until `resume`.
    case pause(Leg)
    case resume(Leg)
    /// The origin's connection is given back, or closed when it cannot be used again.
    case release(reusable: Bool)
    /// No more is sent to the client; what it still sends is thrown away until it ends.
    case finishClient
    /// The client's connection is closed: at once with a reset when the answer was cut short.
    case closeClient(reset: Bool)
    /// The password takes long to check. Answered by `Session.authenticated`.
    indirect case authenticate(PasswordCheck)
    /// The exchange is over; `Session.record` describes it until the next call.
    case record
    /// Bytes of the next request are already here: call `Session.proceed`.
    case proceed
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

/// Where a session writes: bytes for each leg, and orders. It also knows what time it is by the calendar. One for each loop, cleared after every call.
public struct Outbox: ~Copyable {
    public internal(set) var client: [UInt8] = []
    public internal(set) var origin: [UInt8] = []
    public internal(set) var orders: [Order] = []
    /// The time as a `Date` field says it, in whole seconds; empty until it is told.
    private(set) var date: [UInt8] = []
    private var seconds = 0

    public init() {}

    /// Tells what time it is by the calendar. Writes it out anew once a second at most.
    /// - Parameter seconds: since 1970.
    public mutating func tell(time seconds: Int) {
        guard seconds != self.seconds else { return }
        self.seconds = seconds
        date = Array(CalendarTime(seconds).http.utf8)
    }

    public mutating func clearClient() { client.removeAll(keepingCapacity: client.capacity <= Self.keptCapacity) }
    public mutating func clearOrigin() { origin.removeAll(keepingCapacity: origin.capacity <= Self.keptCapacity) }
    public mutating func clearOrders() { orders.removeAll(keepingCapacity: true) }

    /// The origin sent more than its answer, and its last bytes came from the driver's relay: a release that was just
    /// ordered must not put the connection back.
    mutating func distrustRelease() {
        for index in orders.indices {
            if case .release = orders[index] { orders[index] = .release(reusable: false) }
        }
    }

    private static let keptCapacity = 256 << 10
}
