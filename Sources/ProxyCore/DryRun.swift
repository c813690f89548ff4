import Addresses
import Authorization
import HTTP1
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

    public let outcome: Outcome
    /// Nil where the host is nobody's, and where the request did not come so far.
    public let classification: Classification?
    /// One for each interceptor, in file order; nil where the request did not come so far.
    public let interceptors: [RuleVerdict]?
    /// The URL of the protected resource that the request is for.
    public let resource: String?
    /// What happened, in order, but for what goes without saying.
    public let moments: [ExchangeMoment]
    /// The configuration leaves the TLS of this tunnel unopened, and the rest was told as though it were opened.
    public let isUnopened: Bool

    /// - Parameters:
    ///   - message: the request as its client sends it to the proxy, or in the tunnel.
    ///   - tunnel: where the client has a tunnel made to first, to speak TLS in it.
    ///   - settings: whoever asks is taken for one who may: no password is wanted.
    public init(_ message: [UInt8], in tunnel: Origin? = nil, _ settings: Settings, pages: OwnPages? = nil) {
        var settings = settings
        settings.users = nil
        let engine = Engine(settings, pages: pages)
        var driver = DryDriver(engine)
        if let tunnel { driver.receive(Array("CONNECT \(tunnel) HTTP/1.1\r\nHost: \(tunnel)\r\n\r\n".utf8)) }
        // a CONNECT that was refused is what comes of the request
        if tunnel == nil || driver.connection.enterTunnel(&driver.out) { driver.receive(message) }
        isUnopened = tunnel.map { !settings.interception.opens($0.host, port: $0.port) } ?? false
        guard let cell = driver.connection.cells.last else {
            (outcome, classification, interceptors, resource, moments) = (.incomplete, nil, nil, nil, [])
            return
        }
        let request = cell.exchange.request
        let found = cell.exchange.classification
        let hasPlan = cell.exchange.record.attempts > 0 && request.method != .connect
        outcome = driver.outcome(of: cell)
        classification = found
        interceptors = hasPlan ? engine.plan.explain(request, found) : nil
        resource = hasPlan ? engine.authorization?.resource(for: request)?.url : nil
        moments = cell.exchange.record.events.map(\.moment)
    }
}

/// Carries out what a connection orders, as far as that goes without a network: every origin is there at once, and none
/// answers.
private struct DryDriver: ~Copyable {
    var connection: ClientConnection
    var out = Outbox()
    private var sent: (head: RequestHead, forwarding: Forwarding)?
    private var body: [UInt8] = []

    init(_ engine: Engine) {
        let source = ClientSource(address: IPAddress("127.0.0.1"))
        connection = ClientConnection(engine: engine, number: 1, client: "127.0.0.1", source: source, now: 0)
    }

    mutating func receive(_ bytes: [UInt8]) {
        connection.received(bytes.span, now: 0, &out)
        var done = 0
        var used = 0
        while done < out.orders.count {
            let order = out.orders[done]
            done += 1
            switch order {
            case .lease(let id, _, _): connection.leased(id, reused: false, sendsRaw: false, now: 0, &out)
            case .send(_, let head, let forwarding): sent = (head, forwarding)
            case .sendBody(_, let count):
                body += out.origin[used..<used + count]
                used += count
            case .sendRaw(_, let count): used += count
            case .sendEnd, .bind, .unbind, .secureClient, .release, .finishClient, .finishOrigin, .closeClient,
                .authenticate, .record, .proceed:
                break
            }
        }
        out.clearOrders()
        out.clearOrigin()
        out.clearClient()
    }

    func outcome(of cell: ExchangeCell) -> DryRun.Outcome {
        if cell.exchange.isOver { return .answered(status: cell.exchange.record.status) }
        if cell.exchange.isTunnelling { return .tunnel }
        guard let sent else { return .incomplete }
        return .sent(Self.asRead(sent.head, sent.forwarding), body: body)
    }

    /// Written by one leg and read by another. The password for an upstream proxy is nobody's to see.
    private static func asRead(_ head: RequestHead, _ forwarding: Forwarding) -> RequestHead {
        var wire: [UInt8] = []
        var writer = HTTP1Client()
        writer.send(head, forwarding, to: &wire)
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
