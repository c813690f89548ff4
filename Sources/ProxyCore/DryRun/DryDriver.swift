import Addresses
import Authorization
import Formats
import HTTP1
import HTTPCodec
import Interception
import Passwords

/// Has what a connection orders executed, as far as that goes without a network. Time passes as soon as nothing else is left to
/// do.
final class DryDriver: CommandBackend {
    /// A machine that waits for something over and over would keep this here for ever.
    private static let mostWakes = 10_000

    var machine: ClientConnection
    var out = Outbox()
    var interpreter = CommandInterpreter()
    var wire: [UInt8] = []
    private(set) var now = 0
    private let limits: DryLimits
    private let destinations: DestinationPolicy
    /// Of a script what nobody has asked for.
    private var origin: DryOrigin
    /// Runs code of others; nil where it takes longer than it may.
    private let runCode: (SwiftCall) -> SwiftAnswer?
    private var leases: [ExchangeID: DryLease] = [:]
    /// In the order in which they began.
    private var all: [DryLease] = []
    private var client = DryClient()
    /// What the client says to what it got.
    private var said: [UInt8] = []
    private(set) var ending = DryRun.ConnectionEnd.open
    /// An origin has answered the client's request.
    private var hasAnswered = false

    init(
        _ engine: Engine, _ destinations: DestinationPolicy, _ origin: DryOrigin, others: Int, flows: DryFlows,
        time: Int, _ runCode: @escaping (SwiftCall) -> SwiftAnswer?
    ) {
        self.runCode = runCode
        let source = ClientSource(address: IPAddress("127.0.0.1"))
        limits = DryLimits(others: others)
        // where answers follow one another, logins are told as they would go; where there is one, what it is about comes first
        var cookies: DryLogins<CookieJar>?
        var tokens: DryTokens?
        var sessions: SessionStores?
        if case .script = origin { (cookies, tokens, sessions) = (DryLogins(), DryTokens(), .dry) }
        let decisions = DryDecisions(isDry: cookies == nil)
        machine = ClientConnection(
            engine: engine,
            stores: SharedStores(
                flows: flows, cookies: cookies, limits: limits, tokens: tokens, sessions: sessions, decisions: decisions
            ),
            client: "127.0.0.1",
            source: source, now: 0)
        self.destinations = destinations
        self.origin = origin
        out.tell(time: time)
    }

    // MARK: the client

    /// Has a tunnel made, and goes on inside it as after a handshake that went well.
    /// - Parameter streams: the handshake came to HTTP/2.
    func enter(_ tunnel: Origin, streams: Bool) {
        hear(Array("CONNECT \(tunnel) HTTP/1.1\r\nHost: \(tunnel)\r\n\r\n".utf8))
        guard machine.enterTunnel(&out) else { return }
        if streams { machine.codec.startHTTP2(machine.engine, out.windows) }
        carryOut()
        client.forget()
    }

    /// False where it was refused.
    var isInTunnel: Bool { machine.context.tunnel != nil }

    func receive(_ message: DryMessage) {
        switch message {
        case .bytes(let bytes): hear(bytes)
        case .stream(let head, let body):
            // what the proxy takes is known before it is asked
            hear(client.beginStreams())
            hear(client.ask(head, body))
        }
        var wakes = 1
        while answerNext() || wake(), wakes < Self.mostWakes {
            carryOut()
            wakes += 1
        }
    }

    private func hear(_ bytes: [UInt8]) {
        machine.received(bytes.span, now: now, &out)
        carryOut()
    }

    private func carryOut() {
        execute()
        guard !said.isEmpty else { return }
        let bytes = said
        said = []
        hear(bytes)
    }

    func sendToClient() -> Int? {
        said += client.took(out.client)
        return nil
    }

    func finishClient() -> Bool {
        closeClient(reset: false)
        return false
    }

    func closeClient(reset: Bool) { if ending == .open { ending = reset ? .reset : .closed } }

    // MARK: origins

    func lease(_ origin: Origin, _ scope: LeaseScope, _ version: LeaseVersion, for id: ExchangeID) -> LeaseOutcome {
        if let reason = refusal(of: origin) { return .failed(.forbidden(reason)) }
        let answer = answer(to: id)
        switch answer {
        case .never: hasAnswered = true
        case .unreachable(let failure):
            hasAnswered = true
            return .failed(failure)
        case .bytes, .hangsUp, nil: break
        }
        let lease = DryLease(answer, isCall: machine.cell(id)?.exchange.call != nil)
        leases[id] = lease
        all.append(lease)
        return .leased(reused: false, sendsRaw: false)
    }

    /// No name is resolved here: what an address decides is known of hosts that are one.
    private func refusal(of origin: Origin) -> String? {
        if let reason = destinations.refusal(of: origin) { return reason }
        return IPAddress(origin.hop.host).flatMap { destinations.refusal(of: origin, at: $0) }
    }

    /// What speaks against the place, or is not there, is told of the request inside.
    func reach(_ origin: Origin, for id: ExchangeID) -> Bool { true }
    func stream(of id: ExchangeID) -> DryLease? { leases[id] }
    func send(by stream: DryLease, of id: ExchangeID) -> Int? { nil }
    func release(_ id: ExchangeID, reusable: Bool) -> Bool { leases.removeValue(forKey: id) != nil }

    /// Everything that went to origins, in order.
    var sent: [DryRequest] { all.compactMap(\.request) }

    private func answer(to id: ExchangeID) -> DryAnswer? {
        // a tunnel is no question
        guard let cell = machine.cell(id), !cell.exchange.isTunnelling else { return nil }
        switch origin {
        case .silent: return nil
        case .always(let answer): return cell.exchange.call == nil ? answer : nil
        case .script(let answers):
            origin = .script(Array(answers.dropFirst()))
            return answers.first
        }
    }

    var unasked: Int { if case .script(let answers) = origin { answers.count } else { 0 } }

    /// Has an origin answer that was asked.
    /// - Returns: false where none was, or none has an answer.
    private func answerNext() -> Bool {
        let next = leases.first { $0.value.owesAnswer && $0.value.answer != nil }
        guard let (id, lease) = next, let answer = lease.answer else { return false }
        lease.isAnswered = true
        if !lease.isCall { hasAnswered = true }
        if case .bytes(let bytes) = answer {
            machine.received(bytes.span, through: &lease.leg, for: id, now: now, &out)
        }
        // told whatever came of the bytes: what is over by now does not listen
        if !isGivenBack(id) { machine.originEnded(through: &lease.leg, for: id, now: now, &out) }
        return true
    }

    private func isGivenBack(_ id: ExchangeID) -> Bool {
        out.orders.contains { if case .release(let given, _) = $0 { given == id } else { false } }
    }

    // MARK: what takes its time

    /// Lets time pass up to where the connection has something to do.
    /// - Returns: false where an origin owes an answer that nobody has for it, and where nothing is waited for.
    private func wake() -> Bool {
        guard !leases.values.contains(where: \.owesAnswer), let cell = machine.current, !cell.exchange.wantsBody else {
            return false
        }
        switch cell.exchange.stage {
        case .reading, .authenticating, .collecting, .tunnelling, .over: return false
        case .leasing, .awaiting, .delivering, .holding, .pacing, .deciding, .calling, .waiting, .intercepting: break
        }
        let time = machine.wakeAt
        guard time != .max else { return false }
        now = max(now, time)
        limits.now = now
        machine.woke(now: now, &out)
        return true
    }

    func check(_ check: PasswordCheck, for id: ExchangeID) -> PasswordVerdict? { nil }
    func run(_ call: SwiftCall, for id: ExchangeID) -> SwiftAnswer? { runCode(call) }

    /// There is nothing to all that without a network. What is over is looked at here, and nothing follows it.
    func perform(_ order: Order) {}
    func finish(_ stream: DryLease) {}

    // MARK: what came of it

    func outcome(of cell: ExchangeCell) -> DryRun.Outcome {
        let first = sent.first { !$0.isCall }
        if cell.exchange.isOver, first == nil || !hasAnswered {
            return .answered(status: cell.exchange.log.record.status)
        }
        if cell.exchange.isTunnelling { return .tunnel }
        guard let first else { return .incomplete }
        return .sent(first.head, body: first.body)
    }

    /// The final response among what the client got.
    func received(by request: RequestHead) -> DryResponse? {
        client.response(to: request, endsCleanly: ending != .reset)
    }
}

extension ClientConnection {
    /// Goes on inside a tunnel as after a handshake that went well.
    /// - Returns: false where there is no tunnel.
    fileprivate mutating func enterTunnel(_ out: inout Outbox) -> Bool {
        // a tunnel to Usher's own pages is entered already
        guard case .peeking(let tunnel) = stage else { return context.tunnel != nil }
        giveBack(tunnel, reusable: false, &out)
        forgetConnect(&out)
        context.tunnel = tunnel.target.secured
        serveInside(out.now)
        return true
    }
}
