import Addresses
public import Authorization
public import HTTPCodec
public import Interception

/// What becomes of one request, told without a network: the very machines that serve clients run on its bytes, with nobody at
/// either end of them.
public struct DryRun: Sendable {
    public enum Outcome: Sendable {
        /// It goes out with this head, as the next hop reads it, and this body.
        case sent(RequestHead, body: [UInt8])
        /// It is a CONNECT that is granted.
        case tunnel
        /// The client gets an answer of this status that was made here.
        case answered(status: Int)
        /// More of the request is waited for.
        case incomplete
    }

    /// What becomes of the client's connection.
    public enum ConnectionEnd: String, CaseIterable, Sendable {
        /// It goes on.
        case open
        case closed, reset
    }

    /// What becomes of the request.
    public let outcome: Outcome
    public let ending: ConnectionEnd
    /// Everything that goes to origins, in order.
    public let sent: [DryRequest]
    /// What the client gets in the end; nil where that takes an answer which nobody gives.
    public let received: DryResponse?
    /// How many answers of a script nobody asked for.
    public let unasked: Int
    /// Nil where the host is nobody's, and where the request did not come so far.
    public let classification: Classification?
    /// The request came as far as the interceptors.
    public let isPlanned: Bool
    /// The URL of the protected resource that the request is for.
    public let resource: String?
    /// In a step-up for it a person may be asked.
    public let asksPerson: Bool
    /// Where its session comes from, and the same in words; nil where it is for no protected resource.
    public let session: (origin: SessionOrigin, words: String)?
    /// What happened, in order, but for what goes without saying.
    public let moments: [ExchangeMoment]
    /// Milliseconds that it took by the machines' clock.
    public let milliseconds: Int
    /// The key of the configuration that leaves the TLS of this tunnel unopened; the rest was told as though it were opened.
    public let closed: InterceptionPolicy.Key?

    /// - Parameters:
    ///   - message: the request as its client sends it.
    ///   - tunnel: where the client has a tunnel made to first, to speak TLS in it.
    ///   - settings: whoever asks is taken for one who may: no password is wanted.
    ///   - destinations: where connections may lead; no name is resolved, so addresses count only where one is written.
    ///   - others: so many requests came just before it wherever interceptors limit them, and are not over.
    ///   - payload: what the journey of an `authId` in it was begun with, where that is known from elsewhere.
    ///   - time: by the calendar, in seconds since 1970.
    ///   - perform: runs code of others that is meant to work off the loop, and waits for it; nil where that takes too long.
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
        // a CONNECT that was refused is what comes of the request
        if tunnel == nil || driver.isInTunnel { driver.receive(message) }
        closed = tunnel.flatMap { settings.interception.closed($0.host, port: $0.port) }
        sent = driver.sent
        unasked = driver.unasked
        ending = driver.ending
        milliseconds = driver.now
        guard let cell = driver.machine.cells.last else {
            (outcome, received, classification, resource, moments) = (.incomplete, nil, nil, nil, [])
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
        moments = cell.exchange.log.record.events.map(\.moment)
    }
}
