public import Authorization
public import HTTPCodec
public import Interception

/// Runs one request without a network: the same machines that serve clients process its bytes.
public struct DryRun: Sendable {
    public enum Outcome: Sendable {
        /// The request goes out with this head, as the next hop reads it, and this body.
        case sent(RequestHead, body: [UInt8])
        /// The request is a CONNECT, and is granted.
        case tunnel
        /// The client gets a response with this status from Usher itself.
        case answered(status: Int)
        /// The request is incomplete.
        case incomplete
    }

    /// The state of the client's connection at the end.
    public enum ConnectionEnd: String, CaseIterable, Sendable {
        /// It stays open.
        case open
        case closed, reset
    }

    /// The result of the request.
    public let outcome: Outcome
    public let ending: ConnectionEnd
    /// All requests to origins, in order.
    public let sent: [DryRequest]
    /// The client's final response; nil if it needs an origin's response that the run lacks.
    public let received: DryResponse?
    /// The number of unused answers of a script.
    public let unasked: Int
    /// Nil if no configured server has the host, or the request did not get so far.
    public let classification: Classification?
    /// The request reached the interceptors.
    public let isPlanned: Bool
    /// The URL of the protected resource that covers the request.
    public let resource: String?
    /// Its step-up may ask a person.
    public let asksPerson: Bool
    /// The source of the session, also in words; nil if the request is for no protected resource.
    public let session: (origin: SessionOrigin, words: String)?
    /// The events, in order, without the plain ones.
    public let events: [LogEvent]
    /// The run's duration in milliseconds, by the machines' clock.
    public let milliseconds: Int
    /// The key of the configuration that keeps this tunnel's TLS encrypted; the run decrypts it all the same.
    public let closed: InterceptionPolicy.Key?

    /// - Parameters:
    ///   - message: the request as its client sends it.
    ///   - tunnel: the CONNECT tunnel that the client opens first, to speak TLS in it.
    ///   - settings: the configuration; the run skips the proxy password.
    ///   - destinations: the destination policy; no name is resolved, so addresses count only in hosts.
    ///   - others: earlier requests that each interceptor's limit counts as still under way.
    ///   - payload: the payload that began the journey of an `authId`, if it is known.
    ///   - time: the calendar time, in seconds since 1970.
    ///   - perform: runs an interceptor in Swift off the loop, and waits for it; nil if it exceeds its time.
    public init(
        _ message: DryMessage, in tunnel: Origin? = nil, _ settings: Settings, pages: OwnPages? = nil,
        destinations: DestinationPolicy = DestinationPolicy(), origin: DryOrigin = .silent, others: Int = 0,
        payload: ActionPayload? = nil, time: Int = 0, perform: @escaping (SwiftCall) -> SwiftAnswer? = { _ in nil }
    ) {
        var settings = settings
        settings.users = nil
        let engine = Engine(settings, pages: pages, explains: true)
        let driver = DryDriver(
            engine, destinations, origin, others: others, flows: DryFlows(payload), time: time, perform)
        if let tunnel { driver.enter(tunnel, streams: message.isStream) }
        // a refused CONNECT is the result of the run
        if tunnel == nil || driver.isInTunnel { driver.receive(message) }
        closed = tunnel.flatMap { settings.interception.closed($0.host, port: $0.port) }
        sent = driver.sent
        unasked = driver.unasked
        ending = driver.ending
        milliseconds = driver.now
        guard let cell = driver.machine.http.exchanges.cells.last else {
            (outcome, received, classification, resource, events) = (.incomplete, nil, nil, nil, [])
            asksPerson = false
            session = nil
            isPlanned = false
            return
        }
        let request = cell.exchange.request
        isPlanned = cell.exchange.log.record.attempts > 0 && request.method != .connect
        outcome = driver.outcome(of: cell)
        received = driver.received(by: request)
        classification = cell.exchange.classification
        let covered = isPlanned ? engine.stepUp(for: request, cell.exchange.body.framing) : nil
        resource = covered?.resource.url
        asksPerson = covered?.policy.asksPerson ?? false
        let body = cell.exchange.body.bytes
        session = covered.map { covered in
            let origin = covered.policy.sessionOrigin(of: request, body: body)
            return (origin, covered.policy.words(of: origin))
        }
        events = cell.exchange.log.record.events.map(\.value)
    }
}
