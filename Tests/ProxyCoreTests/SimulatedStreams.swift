/// A client of the simulation: it asks on many streams at a time, or one thing after another where it speaks HTTP/1, takes what
/// comes as it likes, and checks it.
final class SimulatedStreams {
    private struct Sending {
        let ticket: Ticket
        var rest: ArraySlice<UInt8>
        var hasEnded = false
        var isStalled = false
    }

    let far: FarClient
    let name: String
    private let ledger: Ledger
    private(set) var tickets: [Ticket] = []
    private var asked: [Sending] = []
    private var isLost = false
    private var hasEnded = false
    private var checked: Set<Int> = []

    init(_ number: Int, _ far: FarClient, _ ledger: Ledger, _ random: inout SeededGenerator) {
        self.far = far
        self.ledger = ledger
        name = "c\(number)"
        let count = 1 + random.below(far.codec == nil ? 5 : 12)
        for index in 0..<count { tickets.append(ticket("\(name)-\(index)", &random)) }
    }

    private func ticket(_ id: String, _ random: inout SeededGenerator) -> Ticket {
        let kind = random.pick([
            Ticket.Kind.plain, .plain, .plain, .plain, .plain, .protected, .protected, .answeredHere, .unresolvable,
        ])
        let method = random.pick(["GET", "GET", "GET", "HEAD", "POST", "POST", "PUT"])
        let hasBody = method == "POST" || method == "PUT"
        let size = random.chance(30) ? 400_000 : random.chance(100) ? 6_000 : 200
        let seed = UInt8(random.below(256))
        let body = hasBody ? (0..<random.below(size)).map { UInt8(truncatingIfNeeded: $0) ^ seed } : []
        let ticket = Ticket(id: id, kind: kind, method: method, body: body, session: "S-\(name)")
        ledger.tickets[id] = ticket
        return ticket
    }

    private var driver: DriverModel { far.driver }
    var isOver: Bool { driver.isOver && driver.queue.isEmpty && far.isOver }

    // MARK: acting

    /// - Returns: false where there is nothing to do.
    func act(_ random: inout SeededGenerator) -> Bool {
        guard !isOver else { return false }
        if random.chance(1) {
            isLost = true
            driver.clientIsLost()
            return true
        }
        if !driver.queue.isEmpty, !far.isStalled, random.chance(500) {
            far.receive(driver.take(1 + random.below(random.chance(300) ? 100 : 20_000)))
            return true
        }
        if driver.client != .open, driver.queue.isEmpty, !far.isOver {
            far.ended(cleanly: driver.client != .reset)
            if driver.client == .finished { driver.clientEnds() }
            return true
        }
        if !far.outgoing.isEmpty, driver.readsClient, random.chance(600) {
            driver.fromClient(far.takeOutgoing(1 + random.below(random.chance(300) ? 60 : 16_000)))
            noteDelivered()
            return true
        }
        if goOn(&random) { return true }
        if asked.count < tickets.count, far.mayAsk, random.chance(300) {
            ask(&random)
            return true
        }
        if isDone, !hasEnded, far.outgoing.isEmpty {
            hasEnded = true
            driver.clientEnds()
            return true
        }
        return false
    }

    private func ask(_ random: inout SeededGenerator) {
        let key = asked.count
        let ticket = tickets[key]
        let host =
            switch ticket.kind {
            case .plain: "o\(random.below(2)).test"
            case .protected: "shop.test"
            case .answeredHere: "gate.test"
            case .unresolvable: "none.test"
            }
        var fields = [(name: "Cookie", value: "iPlanetDirectoryPro=\(ticket.session)")]
        if !ticket.body.isEmpty, random.chance(500) { fields.append(("Content-Length", "\(ticket.body.count)")) }
        let url = "http://\(host)\(ticket.kind == .protected ? "/api/" : "/r/")\(ticket.id)"
        asked.append(Sending(ticket: ticket, rest: ticket.body[...]))
        do {
            try far.ask(key, ticket.method, url, fields, ends: ticket.body.isEmpty)
            asked[key].hasEnded = ticket.body.isEmpty
        } catch {
            ledger.fail("\(ticket.id) cannot be sent: \(error)")
        }
    }

    /// One of its streams goes on, stalls, or is given up.
    private func goOn(_ random: inout SeededGenerator) -> Bool {
        let open = asked.indices.filter { far.responses[$0]?.isWhole != true && !asked[$0].ticket.isGivenUp }
        guard let key = open.isEmpty ? nil : open[random.below(open.count)], !far.isOver else { return false }
        if random.chance(5) {
            asked[key].ticket.isGivenUp = true
            if far.codec == nil { isLost = true }
            try? far.reset(key)
            return true
        }
        if random.chance(asked[key].isStalled ? 200 : 20) {
            asked[key].isStalled.toggle()
            try? far.stall(key, asked[key].isStalled)
            return true
        }
        guard !asked[key].hasEnded, far.waiting < 100_000, far.outgoing.count < 100_000,
            far.responses[key]?.isReset != true
        else { return false }
        let count = min(asked[key].rest.count, 1 + random.below(random.chance(300) ? 100 : 20_000))
        try? far.send(key, Array(asked[key].rest.prefix(count)))
        asked[key].rest = asked[key].rest.dropFirst(count)
        if asked[key].rest.isEmpty {
            asked[key].hasEnded = true
            try? far.end(key)
        }
        return true
    }

    /// All that it has said is with the proxy.
    private func noteDelivered() {
        guard far.outgoing.isEmpty, far.waiting == 0 else { return }
        for one in asked where one.hasEnded { one.ticket.isDelivered = true }
    }

    /// Whatever it asked for has come to something.
    private var isDone: Bool {
        (asked.count == tickets.count || far.wasToldToLeave)
            && asked.indices.allSatisfy {
                far.responses[$0]?.isWhole == true || far.responses[$0]?.isReset == true || asked[$0].ticket.isGivenUp
            }
    }

    /// Those that have stalled may go on when nothing else moves.
    func wakeUp() {
        for key in asked.indices where asked[key].isStalled {
            asked[key].isStalled = false
            try? far.stall(key, false)
        }
    }

    // MARK: checking

    func look() {
        if let fault = far.fault { ledger.fail("\(name) cannot read what it got: \(fault)") }
        // what came of bodies has the connection's window, what goes out a queue and a read for each
        let most = 1 << 20 + (asked.count + 1) * 64 << 10
        if driver.held > most { ledger.fail("\(name) has \(driver.held) bytes held for it") }
        for key in asked.indices where !checked.contains(key) {
            guard let answer = far.responses[key], answer.isWhole, !answer.isReset else { continue }
            checked.insert(key)
            check(answer, asked[key].ticket)
        }
    }

    private func check(_ answer: SeenMessage, _ ticket: Ticket) {
        let status = Int(answer.start) ?? 0
        ticket.status = status
        let protocols = far.codec == nil ? "h1" : "h2"
        ledger.note(answer.isOwn ? "own answer to \(protocols)" : "answer to \(protocols)")
        if !answer.trailers.isEmpty { ledger.note("trailers to \(protocols)") }
        if answer.body.count > 256 << 10 { ledger.note("more than a window to \(protocols)") }
        if ticket.body.count > 256 << 10 { ledger.note("more than a window from \(protocols)") }
        if answer.isOwn {
            let allowed = ticket.kind == .answeredHere ? [418, 408] : [408, 502, 504]
            if !allowed.contains(status) { ledger.fail("\(ticket.id) was answered with \(status)") }
            return
        }
        guard answer["x-id"] == ticket.id else {
            return ledger.fail("\(ticket.id) got the answer to \(answer["x-id"] ?? "nothing"): \(answer.start)")
        }
        if ticket.kind == .answeredHere || ticket.kind == .unresolvable { ledger.fail("\(ticket.id) went out") }
        if status == 401 {
            if ticket.kind != .protected
                || ticket.method != "HEAD" && WireMessage.text(answer.body) != "refused \(ticket.id)"
            {
                ledger.fail("\(ticket.id) got a broken 401")
            }
            return
        }
        guard status == 200 else {
            if status != 204 && status != 304 || !answer.body.isEmpty { ledger.fail("\(ticket.id) got \(status)") }
            return
        }
        if ticket.method == "HEAD" {
            if !answer.body.isEmpty { ledger.fail("the answer to \(ticket.id) has a body") }
        } else if answer["x-length"] != "\(answer.body.count)" || answer["x-hash"] != "\(Ledger.hash(answer.body))" {
            ledger.fail("the answer to \(ticket.id) lost or won bytes")
        }
        if !answer.trailers.isEmpty, answer.trailers != ["x-end: \(ticket.id)"] {
            ledger.fail("\(ticket.id) got the trailers \(answer.trailers)")
        }
    }

    /// What must hold when the connection is over.
    func checkEnd() {
        look()
        if !driver.holdsNothing { ledger.fail("\(name) left an origin's stream taken") }
        if driver.exchanges > 0 { ledger.fail("\(name) left \(driver.exchanges) exchanges") }
        ledger.check(driver.records, of: asked.map(\.ticket))
        for (key, one) in asked.enumerated() {
            let ticket = one.ticket
            if !isLost, !ticket.isGivenUp, far.responses[key]?.isWhole != true, far.responses[key]?.isReset != true {
                ledger.fail("\(ticket.id) was never answered, and nothing told its client so")
            }
        }
    }
}
