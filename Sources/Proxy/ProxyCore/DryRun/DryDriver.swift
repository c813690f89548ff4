import Addresses
import Authorization
import HTTPCodec
import Interception
import Passwords

/// Executes a connection's commands as far as that works without a network. Time advances when nothing else is left to do.
final class DryDriver: CommandBackend {
    /// The most steps of time, as a machine that waits again and again would never end the run.
    private static let mostWakes = 10_000

    var machine: ClientConnection
    var out = CommandBuffer()
    var interpreter = CommandInterpreter()
    var wire: [UInt8] = []
    private(set) var now = 0
    private let limits: DryLimits
    private let destinations: DestinationPolicy
    /// The origin; a script's responses are removed as they are used.
    private var origin: DryOrigin
    /// Runs interceptors in Swift; nil if one exceeds its time.
    private let runCode: (SwiftCall) -> SwiftAnswer?
    private var leases: [ExchangeID: DryLease] = [:]
    /// The leases in the order of their start.
    private var all: [DryLease] = []
    private var client = DryClient()
    /// The client's bytes in reaction to the received ones.
    private var said: [UInt8] = []
    private(set) var ending = DryRun.ConnectionEnd.open
    /// An origin has responded to the client's request.
    private var hasAnswered = false

    init(
        _ engine: Engine, _ destinations: DestinationPolicy, _ origin: DryOrigin, others: Int, flows: DryFlows,
        time: Int, _ runCode: @escaping (SwiftCall) -> SwiftAnswer?
    ) {
        self.runCode = runCode
        let source = ClientSource(address: IPAddress("127.0.0.1"))
        limits = DryLimits(others: others)
        // a script runs logins as they are; a single answer skips them, so that it reaches the client's request
        var cookies: DryCredentials<CookieSessions>?
        var tokens: DryTokens?
        var sessions: SessionStores?
        if case .script = origin {
            (cookies, tokens) = (DryCredentials(), DryTokens())
            sessions = SessionStores(
                upgrades: DryCredentials<CredentialLedger<SharedUpgrade>>(),
                own: DryCredentials<CredentialLedger<KeptSession>>())
        }
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

    /// Opens a tunnel and enters it as after a successful handshake.
    /// - Parameter streams: the handshake chose HTTP/2.
    func enter(_ tunnel: Origin, streams: Bool) {
        hear(Array("CONNECT \(tunnel) HTTP/1.1\r\nHost: \(tunnel)\r\n\r\n".utf8))
        guard machine.enterTunnel(&out) else { return }
        if streams { machine.http.codec.startHTTP2(machine.http.engine, out.windows) }
        carryOut()
        client.forget()
    }

    /// False if the tunnel was refused.
    var isInTunnel: Bool { machine.http.context.tunnel != nil }

    func receive(_ message: DryMessage) {
        switch message {
        case .bytes(let bytes): hear(bytes)
        case .stream(let head, let body):
            // the client's settings come before its request, as in a real connection
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
        let lease = DryLease(answer, isCall: machine.http.exchanges[id]?.exchange.call != nil)
        leases[id] = lease
        all.append(lease)
        return .leased(reused: false, sendsRaw: false)
    }

    /// The reason that destinations refuse the origin. No name is resolved, so addresses count only in the host.
    private func refusal(of origin: Origin) -> String? {
        if let reason = destinations.refusal(of: origin) { return reason }
        return IPAddress(origin.hop.host).flatMap { destinations.refusal(of: origin, at: $0) }
    }

    /// Always true, as the request inside shows a refused or missing origin.
    func reach(_ origin: Origin, for id: ExchangeID) -> Bool { true }
    func stream(of id: ExchangeID) -> DryLease? { leases[id] }
    func send(by stream: DryLease, of id: ExchangeID) -> Int? { nil }
    func release(_ id: ExchangeID, reusable: Bool) -> Bool { leases.removeValue(forKey: id) != nil }

    /// All requests to origins, in order.
    var sent: [DryRequest] { all.compactMap(\.request) }

    private func answer(to id: ExchangeID) -> DryAnswer? {
        // a tunnel needs no response
        guard let cell = machine.http.exchanges[id], !cell.exchange.isTunnelling else { return nil }
        switch origin {
        case .silent: return nil
        case .always(let answer): return cell.exchange.call == nil ? answer : nil
        case .script(let answers):
            origin = .script(Array(answers.dropFirst()))
            return answers.first
        }
    }

    var unasked: Int { if case .script(let answers) = origin { answers.count } else { 0 } }

    /// Has one origin respond.
    /// - Returns: false if no origin was asked, or none has a response.
    private func answerNext() -> Bool {
        let next = leases.first { $0.value.owesAnswer && $0.value.answer != nil }
        guard let (id, lease) = next, let answer = lease.answer else { return false }
        lease.isAnswered = true
        if !lease.isCall { hasAnswered = true }
        if case .bytes(let bytes) = answer {
            machine.received(bytes.span, through: &lease.codec, for: id, now: now, &out)
        }
        // reports the end in any case: a finished exchange ignores it
        if !isGivenBack(id) { machine.originEnded(through: &lease.codec, for: id, now: now, &out) }
        return true
    }

    private func isGivenBack(_ id: ExchangeID) -> Bool {
        out.commands.contains { if case .release(let given, _) = $0 { given == id } else { false } }
    }

    // MARK: time

    /// Advances time to the connection's next timer.
    /// - Returns: false if an origin owes a response that the run lacks, or no timer is set.
    private func wake() -> Bool {
        guard !leases.values.contains(where: \.owesAnswer), let cell = machine.http.exchanges.current,
            !cell.exchange.wantsBody
        else {
            return false
        }
        switch cell.exchange.stage.state {
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

    /// Nothing to do without a network; the driver checks for ended exchanges here.
    func perform(_ command: DriverCommand) {}

    // MARK: the result

    func outcome(of cell: ExchangeCell) -> DryRun.Outcome {
        let first = sent.first { !$0.isCall }
        if cell.exchange.isOver, first == nil || !hasAnswered {
            return .answered(status: cell.exchange.log.record.status)
        }
        if cell.exchange.isTunnelling { return .tunnel }
        guard let first else { return .incomplete }
        return .sent(first.head, body: first.body)
    }

    /// The final response among the bytes that the client got.
    func received(by request: RequestHead) -> DryResponse? {
        client.response(to: request, endsCleanly: ending != .reset)
    }
}

extension ClientConnection {
    /// Enters a tunnel as after a successful handshake.
    /// - Returns: false if there is no tunnel.
    fileprivate mutating func enterTunnel(_ out: inout CommandBuffer) -> Bool {
        // a tunnel to Usher's own pages is already entered
        guard tunnel.isPeeking, let cell = http.exchanges.current else { return http.context.tunnel != nil }
        tunnel.giveBack(reusable: false, for: cell, &out)
        http.exchanges.forget(cell, &out)
        http.context.tunnel = tunnel.target.secured
        tunnel.end()
        serveInside(out.now)
        return true
    }
}
