import Interception
import ProxyCore
import TLSEngine

/// One client with its connection to the proxy: sends what it has to send, reads what comes, and checks it.
final class SimulatedClient {
    /// `tunnelSecure`: with TLS in it that is opened; `tunnelBlind`: with something in it that nobody looks at.
    enum Mode { case proxy, tunnelHTTP, tunnelSecure, tunnelBlind }

    let driver: DriverModel
    let name: String
    let mode: Mode
    private let ledger: Ledger
    private var plan: [(ticket: Ticket, bytes: [UInt8], waits: Int?)] = []
    private var planned = 0
    private let pipelines: Bool
    private var unanswered: [Ticket] = []
    /// Bytes on their way to the proxy, with the tickets that are whole when so many have gone.
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var wholeAt: [(count: Int, ticket: Ticket)] = []
    private var body: [UInt8]?
    private var read = 0
    private var looked = 0
    private var awaitsTunnel: Bool
    /// Its CONNECT, if it sends one.
    private var connect: [UInt8] = []
    /// It has a tunnel.
    private var isConnected = false
    /// The ClientHello that it sends, until its TLS stands.
    private var hello: [UInt8]?
    /// The one for the inside of its tunnel.
    private var helloInside: [UInt8] = []
    /// It stopped in the middle of the handshake.
    private var isStalled = false
    /// Something was at the other end of its tunnel.
    private var hasPeer = false
    private(set) var wasToldToClose = false
    private(set) var hasEnded = false
    private(set) var isLost = false
    private(set) var blindSent: [UInt8] = []

    init(_ number: Int, _ ledger: Ledger, _ settings: Settings, _ pool: LinkPool, _ random: inout SeededGenerator) {
        self.ledger = ledger
        name = "c\(number)"
        let isSecure = random.chance(150)
        driver = DriverModel(
            settings, SharedStores(flows: Flows()), pool, source: ClientSource(address: nil, isSecure: isSecure))
        mode = random.pick([
            .proxy, .proxy, .proxy, .proxy, .tunnelHTTP, .tunnelSecure, .tunnelSecure, .tunnelBlind,
        ])
        pipelines = random.chance(300)
        awaitsTunnel = mode != .proxy
        var authority = "o0.test:80"
        if mode == .tunnelSecure { authority = "secure.test:443" }
        if mode == .tunnelBlind {
            (authority, blindSent) = random.pick([
                ("blind.test:443", [0x16]), ("secure.test:443", [0x01]),
                ("secure.test:443", Greeting.hello("secure.test", protocols: ["h3"])),
            ])
            blindSent += (0..<random.below(300)).map { _ in UInt8(random.below(256)) }
        }
        if awaitsTunnel { connect += "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n".utf8 }
        if mode == .tunnelSecure { helloInside = Self.hello("secure.test", &random) }
        if isSecure { greet(Self.hello(nil, &random)) } else { outgoing += connect }
        if mode == .tunnelBlind { return }
        for index in 0..<1 + random.below(5) { plan.append(request("\(name)-\(index)", &random)) }
    }

    private func request(
        _ id: String, _ random: inout SeededGenerator
    ) -> (ticket: Ticket, bytes: [UInt8], waits: Int?) {
        let kind: Ticket.Kind =
            awaitsTunnel
            ? .plain
            : random.pick([
                .plain, .plain, .plain, .plain, .plain, .protected, .protected, .answeredHere, .unresolvable,
            ])
        let method = random.pick(["GET", "GET", "GET", "HEAD", "POST", "POST", "PUT"])
        let hasBody = method == "POST" || method == "PUT"
        let size = random.below(random.chance(100) ? 6000 : 200)
        let body = hasBody ? (0..<size).map { _ in UInt8(random.below(256)) } : []
        let ticket = Ticket(id: id, kind: kind, method: method, body: body, session: "S-\(name)")
        ledger.tickets[id] = ticket
        let host =
            switch kind {
            case .plain where mode == .tunnelSecure: "secure.test"
            case .plain: mode == .tunnelHTTP ? "o0.test" : "o\(random.below(2)).test"
            case .protected: "shop.test"
            case .answeredHere: "gate.test"
            case .unresolvable: "none.test"
            }
        let path = (kind == .protected ? "/api/" : "/r/") + id
        let isOld = random.chance(50)
        let target = awaitsTunnel ? path : "http://\(host)\(path)"
        var head = "\(method) \(target) HTTP/1.\(isOld ? 0 : 1)\r\nHost: \(host)\r\n"
        head += "Cookie: iPlanetDirectoryPro=\(ticket.session)\r\n"
        if random.chance(50) { head += "Authorization: Negotiate YII=\r\n" }
        if isOld, random.chance(500) { head += "Connection: keep-alive\r\n" }
        if !isOld, random.chance(50) { head += "Connection: close\r\n" }
        let expects = hasBody && size > 0 && !isOld && !pipelines && random.chance(150)
        if expects { head += "Expect: 100-continue\r\n" }
        guard hasBody else { return (ticket, Array((head + "\r\n").utf8), nil) }
        guard !isOld, random.chance(500) else {
            head += "Content-Length: \(body.count)\r\n\r\n"
            return (ticket, Array(head.utf8) + body, expects ? head.utf8.count : nil)
        }
        head += "Transfer-Encoding: chunked\r\n\r\n"
        var bytes = Array(head.utf8)
        var rest = body[...]
        while !rest.isEmpty {
            let count = min(rest.count, 1 + random.below(500))
            bytes += Array((String(count, radix: 16) + "\r\n").utf8) + rest.prefix(count) + [0x0D, 0x0A]
            rest = rest.dropFirst(count)
        }
        return (ticket, bytes + Array("0\r\n\r\n".utf8), expects ? head.utf8.count : nil)
    }

    // MARK: what it can do

    var isOver: Bool { driver.isOver }
    private var mayCompose: Bool {
        planned < plan.count && outgoing.count == sent && body == nil && !awaitsTunnel && hello == nil
            && !wasToldToClose && !hasEnded && driver.client == .open && (pipelines || unanswered.isEmpty)
    }
    var canSend: Bool { !isOver && !hasEnded && !driver.isPaused && (sent < outgoing.count || mayCompose) }
    /// It has nothing more to say or to wait for.
    var isDone: Bool {
        !awaitsTunnel && hello == nil && (planned == plan.count || wasToldToClose) && unanswered.isEmpty
            && sent == outgoing.count
    }
    var holdsBody: Bool { body != nil }

    func send(_ random: inout SeededGenerator) {
        if sent == outgoing.count { compose() }
        let left = outgoing.count - sent
        let count = random.chance(300) ? left : min(left, 1 + random.below(random.chance(300) ? 3 : 100))
        let piece = Array(outgoing[sent..<sent + count])
        sent += count
        while let first = wholeAt.first, first.count <= sent {
            first.ticket.isDelivered = true
            wholeAt.removeFirst()
        }
        driver.clientPiece(piece)
    }

    private func compose() {
        let (ticket, bytes, waits) = plan[planned]
        planned += 1
        unanswered.append(ticket)
        if let waits {
            outgoing += bytes[..<waits]
            body = Array(bytes[waits...])
        } else {
            outgoing += bytes
            wholeAt.append((outgoing.count, ticket))
        }
    }

    /// Does not wait for a 100 any longer, or has it.
    func sendBody() {
        guard let rest = body, let ticket = unanswered.last else { return }
        body = nil
        outgoing += rest
        wholeAt.append((outgoing.count, ticket))
    }

    func end() {
        hasEnded = true
        driver.clientEnds()
    }

    func vanish() {
        isLost = true
        driver.clientIsLost()
    }

    // MARK: its TLS

    /// A ClientHello, which may be broken or lack its end.
    private static func hello(_ name: String?, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Greeting.hello(name, protocols: random.pick([[], ["http/1.1"], ["h2", "http/1.1"]]))
        // the length of the session's name
        if random.chance(30) { bytes[43] = 0xFF } else if random.chance(30) { bytes.removeLast() }
        return bytes
    }

    private func greet(_ bytes: [UInt8]) {
        hello = bytes
        outgoing += bytes
    }

    /// Its handshake comes to its end, good or bad. False where there is none, or it has stopped.
    func shake(_ random: inout SeededGenerator) -> Bool {
        guard let securing = driver.securing, !isStalled else { return false }
        let name: ShownName = isConnected ? .host("secure.test") : .listener(nil)
        if securing.name != name || securing.hello != hello { ledger.fail("\(self.name): another's handshake") }
        switch random.below(40) {
        case 0: isStalled = true
        case 1: driver.clientIsUnsecured(TLSFault(.alert(48), "refused"), hasSeen: true)
        case 2: driver.clientIsUnsecured(TLSFault(.protocolError, "broken"), hasSeen: random.chance(500))
        default:
            hello = nil
            if !isConnected { outgoing += connect }
            driver.clientIsSecured()
        }
        return true
    }

    // MARK: what it gets

    func look() {
        let isClean = driver.client == .finished || driver.client == .closed
        guard driver.sent.count != looked || isClean else { return }
        looked = driver.sent.count
        guard mode != .tunnelBlind || awaitsTunnel, hello == nil else { return }
        do {
            while read < driver.sent.count {
                let method = awaitsTunnel ? "CONNECT" : unanswered.first?.method ?? "GET"
                guard
                    case .message(let message, let used) = try WireReader.next(
                        driver.sent[read...], answering: method, ended: isClean)
                else { break }
                read += used
                got(message)
                if mode == .tunnelBlind || hello != nil { break }
            }
        } catch {
            ledger.fail("\(name) cannot read what it got: \(error)")
            read = driver.sent.count
        }
    }

    private func got(_ message: WireMessage) {
        if message.status < 200 {
            if message.status == 100 { sendBody() }
            return
        }
        if message["Connection"]?.lowercased() == "close" { wasToldToClose = true }
        if awaitsTunnel {
            awaitsTunnel = false
            isConnected = message.status == 200
            if !isConnected { wasToldToClose = true }
            if isConnected, mode == .tunnelBlind { outgoing += blindSent }
            if isConnected, mode == .tunnelSecure { greet(helloInside) }
            return
        }
        guard let ticket = unanswered.first else {
            if message.status != 408 { ledger.fail("\(name) got an answer that it did not ask for: \(message.start)") }
            return
        }
        unanswered.removeFirst()
        ticket.status = message.status
        // nobody can know the method of a head that never came whole, so the answer has its body
        if message.status == 408, !ticket.isDelivered { read = driver.sent.count }
        if !ticket.isDelivered, !wasToldToClose {
            ledger.fail("\(ticket.id) was answered before it was sent, and the connection goes on")
        }
        check(message, ticket)
    }

    private func check(_ message: WireMessage, _ ticket: Ticket) {
        if message["Usher-Flow"] != nil {
            let allowed = ticket.kind == .answeredHere ? [418, 408] : [408, 502, 504]
            if !allowed.contains(message.status) { ledger.fail("\(ticket.id) was answered with \(message.status)") }
            return
        }
        guard message["X-Id"] == ticket.id else {
            return ledger.fail("\(ticket.id) got the answer to \(message["X-Id"] ?? "nothing"): \(message.start)")
        }
        if ticket.kind == .answeredHere || ticket.kind == .unresolvable { ledger.fail("\(ticket.id) went out") }
        if message.status == 401 {
            if ticket.kind != .protected || (ticket.method != "HEAD" && message.bodyText != "refused \(ticket.id)") {
                ledger.fail("\(ticket.id) got a broken 401")
            }
            return
        }
        guard message.status == 200, ticket.method != "HEAD" else { return }
        if message["X-Length"] != "\(message.body.count)" || message["X-Hash"] != "\(Ledger.hash(message.body))" {
            ledger.fail("the answer to \(ticket.id) lost or won bytes")
        }
    }

    // MARK: the end

    /// What must hold when the connection is over.
    func checkEnd() {
        look()
        guard driver.origin == nil, driver.dialing == nil else {
            return ledger.fail("\(name) left its origin leg taken")
        }
        checkRecords()
        if mode == .tunnelBlind, !hasPeer, read < driver.sent.count, hello == nil {
            ledger.fail("\(name) got something out of a tunnel that leads nowhere")
        }
        if driver.client == .reset || isLost || mode == .tunnelBlind { return }
        if hello != nil {
            let rest = Array(driver.sent[read...])
            if !rest.isEmpty, rest != [21, 3, 3, 0, 2, 2, 50] { ledger.fail("\(name) greeted, and got \(rest)") }
            return
        }
        if read < driver.sent.count {
            ledger.fail(
                "\(name) got half an answer and a clean end: \(WireMessage.text(driver.sent[read...].prefix(300)))")
        }
        guard let ticket = unanswered.first, ticket.isDelivered, !wasToldToClose else { return }
        // nobody is asked to step up for a client that may be gone, and a broken-off request ends what is before it
        if hasEnded, ticket.kind == .protected || unanswered.contains(where: { !$0.isDelivered }) { return }
        ledger.fail("\(ticket.id) was never answered, and nothing told its client so")
    }

    private func checkRecords() {
        if Set(driver.records.map(\.flow)).count != driver.records.count { ledger.fail("\(name) has a flow id twice") }
        let seen = ledger.check(driver.records, of: plan.prefix(planned).map(\.ticket))
        if mode == .tunnelBlind, driver.records.count > 1 { ledger.fail("\(name) recorded a tunnel twice") }
        if mode == .tunnelBlind, isConnected, driver.records.count != 1 { ledger.fail("\(name) has no record") }
        if mode == .tunnelSecure, isConnected, seen["secure.test:443"] != 200 {
            ledger.fail("\(name) has no record of its tunnel")
        }
    }

    /// The bytes of a tunnel, as far as they came.
    func checkTunnel(_ peer: SimulatedPeer) {
        guard mode == .tunnelBlind else { return }
        hasPeer = true
        let got = driver.sent.dropFirst(read)
        if !blindSent.starts(with: peer.connection.received) {
            ledger.fail("\(name): the tunnel changed what went out")
        }
        if !peer.blindSent.starts(with: got) { ledger.fail("\(name): the tunnel changed what came in") }
    }
}
