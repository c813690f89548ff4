import HTTPCodec
import ProxyCore

/// The far end of one origin connection: an origin, a protected resource, AM, or what a tunnel leads to.
final class SimulatedPeer {
    enum Fate { case stays, ends, breaks }

    let connection: OriginLink
    private let ledger: Ledger
    private var read = 0
    private var looked = -1
    /// Bytes on their way to the proxy.
    var outgoing: [UInt8] = []
    /// Bytes that nobody asked for. The first of them comes with the last byte of the answer: what came later, on a
    /// connection that is in use again, no proxy could tell from an answer.
    private var unasked: [UInt8] = []
    /// What it does when they have gone.
    var fate = Fate.stays
    private var answered = false
    private var saidContinue = false
    /// It stopped listening without a word.
    var hangs = false
    /// Whose identity the connection carries: that of the client with this session.
    private var owner: String?
    let isBlind: Bool
    var blindSent: [UInt8] = []

    init(_ connection: OriginLink, _ ledger: Ledger, _ random: inout SeededGenerator) {
        self.connection = connection
        self.ledger = ledger
        isBlind = connection.origin.port == 443 && connection.origin.scheme == .http
        if isBlind, maySpeak { speak(&random) }
    }

    /// Where TLS may be spoken, the client speaks first.
    var maySpeak: Bool { connection.origin.host != "secure.test" || !connection.received.isEmpty }

    func take(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        var piece = Array(outgoing.prefix(count))
        outgoing.removeFirst(piece.count)
        if outgoing.isEmpty, !unasked.isEmpty {
            let first = 1 + random.below(unasked.count)
            piece += unasked.prefix(first)
            outgoing += unasked.dropFirst(first)
            unasked = []
        }
        return piece
    }

    // MARK: tunnels

    func speak(_ random: inout SeededGenerator) {
        for _ in 0..<random.below(300) {
            let byte = UInt8(random.below(256))
            outgoing.append(byte)
            blindSent.append(byte)
        }
    }

    // MARK: HTTP

    /// Looks at what came since the last time.
    func look(_ random: inout SeededGenerator) {
        guard connection.received.count != looked, !isBlind, !hangs, fate == .stays else { return }
        looked = connection.received.count
        guard read < looked else { return }
        do {
            switch try WireReader.next(connection.received[read...], answering: nil) {
            case .incomplete(let part):
                guard let part, !answered else { return }
                if part["Expect"] != nil, !saidContinue {
                    saidContinue = true
                    if random.chance(800) { outgoing += "HTTP/1.1 100 Continue\r\n\r\n".utf8 }
                }
                if random.chance(15) {
                    // an answer before the request's end, and no ear for the rest of it
                    answered = true
                    respond(part, &random)
                    if fate == .stays { fate = .ends }
                }
            case .message(let message, let used):
                if !outgoing.isEmpty, !saidContinue { ledger.fail("a request behind an answer that is not out yet") }
                read += used
                saidContinue = false
                arrived(message)
                if !answered { respond(message, &random) }
                answered = false
                looked = -1
            }
        } catch {
            ledger.fail("the origin cannot read what it got: \(error)")
            hangs = true
        }
    }

    private func ticket(_ message: WireMessage) -> Ticket? {
        let path = message.target.prefix { $0 != "?" }
        return ledger.tickets[String(path.split(separator: "/").last ?? "")]
    }

    private func arrived(_ message: WireMessage) {
        guard connection.origin.host != "am.test" else { return }
        guard let ticket = ticket(message) else { return ledger.fail("an unknown request: \(message.start)") }
        ticket.arrivals += 1
        if message.body != ticket.body { ledger.fail("the body of \(ticket.id) is not what was sent") }
        if message.method != ticket.method { ledger.fail("the method of \(ticket.id) changed") }
        if message["Authorization"] != nil {
            if owner != ticket.session, connection.uses > 0 {
                ledger.fail("\(ticket.id) shows itself on a connection that others used")
            }
            owner = ticket.session
        }
        if let owner, owner != ticket.session { ledger.fail("\(ticket.id) came by the connection of \(owner)") }
        if message["Host"] != connection.origin.host { ledger.fail("\(ticket.id) came to the wrong host") }
    }

    private func respond(_ message: WireMessage, _ random: inout SeededGenerator) {
        if random.chance(15) {
            hangs = true
            return
        }
        if random.chance(15) {
            fate = random.chance(500) ? .ends : .breaks
            return
        }
        let start = outgoing.count
        if connection.origin.host == "am.test" {
            authenticate(message, &random)
        } else if let ticket = ticket(message) {
            if ticket.kind == .protected, !ledger.letsThrough(message.target, ticket) {
                refuse(ticket, &random)
            } else {
                deliver(message, ticket, &random)
            }
        }
        if random.chance(15), outgoing.count > start {
            // in the middle of it the connection breaks
            outgoing.removeLast(1 + random.below(outgoing.count - start))
            // a clean end there could be taken for the end of a close-delimited answer
            fate = .breaks
        } else if fate == .stays, random.chance(15) {
            unasked += "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8
        }
    }

    /// The answer names its request, so that it cannot be taken for another's.
    private func deliver(_ message: WireMessage, _ ticket: Ticket, _ random: inout SeededGenerator) {
        if random.chance(60) { outgoing += "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n".utf8 }
        var body = Array("\(ticket.id) \(ticket.body.count) \(Ledger.hash(ticket.body)) ".utf8)
        for _ in 0..<random.below(random.chance(100) ? 3000 : 100) { body.append(UInt8(random.below(256))) }
        var head = "X-Id: \(ticket.id)\r\nX-Length: \(body.count)\r\nX-Hash: \(Ledger.hash(body))\r\n"
        if random.chance(30) {
            head += "Persistent-Auth: true\r\n"
            owner = ticket.session
        }
        let closes = random.chance(100)
        if closes { head += "Connection: close\r\n" }
        if message.method == "HEAD" {
            outgoing += "HTTP/1.1 200 OK\r\n\(head)Content-Length: \(body.count)\r\n\r\n".utf8
        } else {
            switch random.below(10) {
            case 0: outgoing += "HTTP/1.1 \(random.chance(500) ? 204 : 304) None\r\n\(head)\r\n".utf8
            case 1:
                outgoing += "HTTP/1.\(random.below(2)) 200 OK\r\n\(head)\r\n".utf8
                outgoing += body
                fate = .ends
                return
            case 2...5:
                outgoing += "HTTP/1.1 200 OK\r\n\(head)Transfer-Encoding: chunked\r\n\r\n".utf8
                var rest = body[...]
                while !rest.isEmpty {
                    let count = min(rest.count, 1 + random.below(200))
                    outgoing += String(count, radix: 16).utf8
                    outgoing += "\r\n".utf8
                    outgoing += rest.prefix(count)
                    outgoing += "\r\n".utf8
                    rest = rest.dropFirst(count)
                }
                outgoing += "0\r\n\(random.chance(300) ? "X-End: 1\r\n" : "")\r\n".utf8
            default:
                outgoing += "HTTP/1.1 200 OK\r\n\(head)Content-Length: \(body.count)\r\n\r\n".utf8
                outgoing += body
            }
        }
        if closes { fate = .ends }
    }

    // MARK: the protected resource and AM

    private func refuse(_ ticket: Ticket, _ random: inout SeededGenerator) {
        let advice = ledger.advice(for: ticket)
        let body = "refused \(ticket.id)"
        outgoing +=
            "HTTP/1.1 401 Unauthorized\r\nX-Id: \(ticket.id)\r\nWWW-Authenticate: SSOADVICE advices=\"\(advice)\"\r\n"
            .utf8
        let count = ticket.method == "HEAD" ? "" : body
        outgoing += "Content-Length: \(body.utf8.count)\r\n\r\n\(count)".utf8
    }

    private func authenticate(_ message: WireMessage, _ random: inout SeededGenerator) {
        func json(_ text: String, _ status: String = "200 OK") {
            outgoing +=
                "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
                .utf8
        }
        switch random.below(40) {
        case 0: return json("{\"code\":500}", "500 Internal Server Error")
        case 1: return json("{\"code\":401}", "401 Unauthorized")
        case 2: return json("nonsense")
        case 3: return json("{\"pad\":\"\(String(repeating: "x", count: 5000))\"}")
        default: break
        }
        let asked = ledger.transaction(in: message.target, message.bodyText, cookie: message["Cookie"] ?? "")
        guard let (id, isKnown) = asked else { return }
        guard isKnown else { return json("{\"code\":401}", "401 Unauthorized") }
        if message.body.isEmpty || random.chance(200) {
            let poll =
                "{\"type\":\"PollingWaitCallback\",\"output\":[{\"name\":\"waitTime\",\"value\":\"\(random.below(400))\"}]}"
            let name = "{\"type\":\"NameCallback\",\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}"
            return json("{\"authId\":\"auth \(id) \",\"callbacks\":[\(random.chance(200) ? poll : name)]}")
        }
        ledger.grant(id)
        json("{\"tokenId\":\"OTHER\"}")
    }
}
