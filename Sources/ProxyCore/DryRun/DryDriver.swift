import Addresses
import Authorization
import Formats
import HTTP1
import HTTPCodec
import Interception

/// Carries out what a connection orders, as far as that goes without a network. Time passes as soon as nothing else is left
/// to do.
struct DryDriver: ~Copyable {
    /// What an exchange has of an origin.
    private struct Lease {
        let answer: DryAnswer?
        var leg = HTTP1Client()
        /// The place in `sent` of what goes by it.
        var index: Int?
        var isAnswered = false

        /// It has not answered, and is none that never does.
        var mayAnswer: Bool { if case .never = answer { false } else { !isAnswered } }
    }

    /// A machine that waits for something over and over would keep this here for ever.
    private static let mostWakes = 10_000

    private(set) var connection: ClientConnection
    private(set) var sent: [DryRequest] = []
    private(set) var now = 0
    private var out = Outbox()
    private let limits: DryLimits
    private let destinations: DestinationPolicy
    private let origin: DryOrigin
    /// Runs code of others; nil where it takes longer than it may.
    private let perform: (SwiftCall) -> SwiftAnswer?
    private var asked = 0
    private var leases: [ExchangeID: Lease] = [:]
    private var client = DryClient()
    private(set) var ending = DryRun.ConnectionEnd.open
    /// An origin has answered the client's request.
    private var hasAnswered = false

    init(
        _ engine: Engine, _ destinations: DestinationPolicy, _ origin: DryOrigin, others: Int, flows: DryFlows,
        time: Int,
        _ perform: @escaping (SwiftCall) -> SwiftAnswer?
    ) {
        self.perform = perform
        let source = ClientSource(address: IPAddress("127.0.0.1"))
        limits = DryLimits(others: others)
        // where answers follow one another, logins are told as they would go; where there is one, what it is about comes first
        var cookies: DryLogins<CookieJar>?
        var tokens: DryTokens?
        var sessions: SessionStores?
        if case .script = origin { (cookies, tokens, sessions) = (DryLogins(), DryTokens(), .dry) }
        let decisions = DryDecisions(isDry: cookies == nil)
        connection = ClientConnection(
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
    mutating func enter(_ tunnel: Origin, streams: Bool) {
        connection.received(Array("CONNECT \(tunnel) HTTP/1.1\r\nHost: \(tunnel)\r\n\r\n".utf8).span, now: now, &out)
        carryOut()
        guard connection.enterTunnel(&out) else { return }
        if streams { connection.serveStreams(out) }
        carryOut()
        client.forget()
    }

    /// False where it was refused.
    var isInTunnel: Bool { connection.context.tunnel != nil }

    mutating func receive(_ message: DryMessage) {
        switch message {
        case .bytes(let bytes): connection.received(bytes.span, now: now, &out)
        case .stream(let head, let body):
            connection.received(client.beginStreams().span, now: now, &out)
            // what the proxy takes is known before it is asked
            carryOut()
            connection.received(client.ask(head, body).span, now: now, &out)
        }
        var wakes = 0
        repeat {
            carryOut()
            wakes += 1
        } while (answerNext() || wake()) && wakes < Self.mostWakes
    }

    // MARK: orders

    private mutating func carryOut() {
        var done = 0
        var used = 0
        while done < out.orders.count {
            let order = out.orders[done]
            done += 1
            switch order {
            case .lease(let id, let origin, _, _): lease(id, origin)
            // what speaks against the place, or is not there, is told of the request inside
            case .reach(let id, _): connection.reached(id, now: now, &out)
            case .send(let id, let index): send(id, out.heads[index].head, out.heads[index].forwarding)
            case .sendBody(let id, let count):
                if let index = leases[id]?.index { sent[index].body += out.origin[used..<used + count] }
                used += count
            case .sendRaw(_, let count): used += count
            case .sendEnd(let id, _):
                var scratch: [UInt8] = []
                leases[id]?.leg.end(to: &scratch)
            case .release(let id, _): leases[id] = nil
            case .closeClient(let reset): if ending == .open { ending = reset ? .reset : .closed }
            case .finishClient: if ending == .open { ending = .closed }
            case .intercept(let id, let call):
                if let answer = perform(call) { connection.intercepted(answer, id, now: now, &out) }
            case .carry, .bind, .unbind, .secureClient, .finishOrigin, .authenticate, .awaitTurn, .awaitPerson,
                .awaitFlight,
                .cancelIntercept, .wake,
                .record,
                .proceed:
                break
            }
        }
        connection.flush(&out)
        let said = client.took(out.client)
        out.clearOrders()
        out.clearOrigin()
        out.clearClient()
        guard !said.isEmpty else { return }
        connection.received(said.span, now: now, &out)
        carryOut()
    }

    private mutating func lease(_ id: ExchangeID, _ origin: Origin) {
        if let reason = refusal(of: origin) {
            return connection.leaseFailed(.forbidden(reason), id, now: now, &out)
        }
        let answer = answer(to: id)
        leases[id] = Lease(answer: answer)
        if case .never = answer { hasAnswered = true }
        if case .unreachable(let failure) = answer {
            leases[id] = nil
            hasAnswered = true
            return connection.leaseFailed(failure, id, now: now, &out)
        }
        connection.leased(id, reused: false, sendsRaw: false, now: now, &out)
    }

    /// No name is resolved here: what an address decides is known of hosts that are one.
    private func refusal(of origin: Origin) -> String? {
        if let reason = destinations.refusal(of: origin) { return reason }
        return IPAddress(origin.hop.host).flatMap { destinations.refusal(of: origin, at: $0) }
    }

    private mutating func send(_ id: ExchangeID, _ head: RequestHead, _ forwarding: Forwarding) {
        var scratch: [UInt8] = []
        leases[id]?.leg.send(head, forwarding, to: &scratch)
        leases[id]?.index = sent.count
        let isCall = connection.cell(id)?.exchange.call != nil
        sent.append(DryRequest(head: Self.asRead(head, scratch), body: [], isCall: isCall))
    }

    /// Written by one leg and read by another. The password for an upstream proxy is nobody's to see.
    private static func asRead(_ head: RequestHead, _ wire: [UInt8]) -> RequestHead {
        var read = RequestHead()
        var reader = HTTP1Server()
        let limits = HeadLimits(bytes: wire.count, fields: wire.count, target: wire.count)
        do throws(HTTPFault) {
            guard try reader.readHead(wire.span, into: &read, limits: limits) != nil else { return head }
            // the Host field may be edited apart from the URL, so the URL is taken from the target
            try read.adopt(authority: head.fields.text(head.target.authority), scheme: head.target.scheme)
        } catch {
            return head
        }
        if read.fields.contains(.proxyAuthorization) {
            read.fields.set("Proxy-Authorization", SecretTexts.replacement.description)
        }
        return read
    }

    // MARK: origins

    private mutating func answer(to id: ExchangeID) -> DryAnswer? {
        // a tunnel is no question
        guard let cell = connection.cell(id), !cell.exchange.isTunnelling else { return nil }
        switch origin {
        case .silent: return nil
        case .always(let answer): return cell.exchange.call == nil ? answer : nil
        case .script(let answers):
            guard asked < answers.count else { return nil }
            asked += 1
            return answers[asked - 1]
        }
    }

    var unasked: Int { if case .script(let answers) = origin { answers.count - asked } else { 0 } }

    /// Has an origin answer that was asked.
    /// - Returns: false where none was, or none has an answer.
    private mutating func answerNext() -> Bool {
        let next = leases.first { $0.value.mayAnswer && $0.value.answer != nil && $0.value.leg.hasSent }
        guard let (id, lease) = next, let answer = lease.answer else { return false }
        leases[id]?.isAnswered = true
        if !sentByCall(lease) { hasAnswered = true }
        var leg = lease.leg
        if case .bytes(let bytes) = answer {
            connection.received(bytes.span, through: &leg, for: id, now: now, &out)
        }
        // told whatever came of the bytes: what is over by now does not listen
        if !isGivenBack(id) { connection.originEnded(through: &leg, for: id, now: now, &out) }
        return true
    }

    private func sentByCall(_ lease: Lease) -> Bool { lease.index.map { sent[$0].isCall } ?? false }

    private func isGivenBack(_ id: ExchangeID) -> Bool {
        out.orders.contains { if case .release(let given, _) = $0 { given == id } else { false } }
    }

    /// Lets time pass up to where the connection has something to do.
    /// - Returns: false where an origin owes an answer that nobody has for it, and where nothing is waited for.
    private mutating func wake() -> Bool {
        let isOwed = leases.values.contains { $0.mayAnswer && $0.leg.hasSent }
        guard !isOwed, let cell = connection.current, !cell.exchange.wantsBody else { return false }
        switch cell.exchange.stage {
        case .reading, .authenticating, .collecting, .tunnelling, .over: return false
        case .leasing, .awaiting, .delivering, .holding, .pacing, .deciding, .calling, .waiting, .intercepting: break
        }
        let time = connection.wakeAt
        guard time != .max else { return false }
        now = max(now, time)
        limits.now = now
        connection.woke(now: now, &out)
        return true
    }

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
