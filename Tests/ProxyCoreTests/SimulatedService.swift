import ProxyCore

/// What an origin of the simulation makes of the requests on one connection: it answers them in any order, gives some up, or
/// leaves. It is a plain origin, a protected resource, or AM.
final class SimulatedService {
    /// An answer that is under way.
    private struct Answer {
        let number: Int
        var rest: ArraySlice<UInt8>
        let isChunked: Bool
        let trailers: [UInt8]
        /// So many bytes before its end it is given up.
        let cut: Int?
    }

    private enum Will { case waits, answers, hangs, isOver }

    let far: FarOrigin
    private let ledger: Ledger
    private var wills: [Int: Will] = [:]
    private var answers: [Answer] = []
    private var counted: Set<Int> = []
    /// How much of each body was looked at.
    private var looked: [Int: Int] = [:]
    /// It has told that it takes no further requests.
    private var hasLeft = false

    init(_ far: FarOrigin, _ ledger: Ledger) {
        self.far = far
        self.ledger = ledger
    }

    private var host: String { far.link.origin.host }
    private var isHTTP2: Bool { far.codec != nil }
    var isOver: Bool { far.isOver || far.ends != nil || far.link.isClosed }

    // MARK: looking

    /// Looks at what came.
    func look(_ random: inout SeededGenerator) {
        if let fault = far.fault { ledger.fail("\(far.name) cannot read what it got: \(fault)") }
        for request in far.requests {
            let number = request.number
            if wills[number] == nil { wills[number] = hasLeft ? .hangs : will(request, &random) }
            if request.isOver, wills[number] != .isOver {
                wills[number] = .isOver
                answers.removeAll { $0.number == number }
            }
            let size = request.message.body.count + (request.message.isWhole ? 1 : 0)
            if looked[number] != size { checkBody(request) }
            looked[number] = size
            if request.message.isWhole, counted.insert(number).inserted, wills[number] != .hangs || !hasLeft {
                arrived(request, by: 1)
            }
        }
    }

    private func will(_ request: FarOrigin.Request, _ random: inout SeededGenerator) -> Will {
        random.chance(10) ? .hangs : .waits
    }

    private func ticket(_ message: SeenMessage) -> Ticket? {
        let path = message.start.prefix { $0 != "?" }
        return ledger.tickets[String(path.split(separator: "/").last ?? "")]
    }

    private func checkBody(_ request: FarOrigin.Request) {
        guard host != "am.test" else { return }
        guard let ticket = ticket(request.message) else {
            return ledger.fail("an unknown request: \(request.message.start)")
        }
        let body = request.message.body
        if request.message.isWhole ? body != ticket.body : !ticket.body.starts(with: body) {
            ledger.fail("the body of \(ticket.id) is not what was sent")
        }
        if request.method != ticket.method { ledger.fail("the method of \(ticket.id) changed") }
        if request.message["cookie"] != "iPlanetDirectoryPro=\(ticket.session)" {
            ledger.fail("\(ticket.id) came with another's cookie")
        }
        if !request.message.start.contains("://\(host)/") { ledger.fail("\(ticket.id) came to the wrong host") }
        if ticket.isGivenUp, request.message.isWhole, !ticket.isDelivered {
            ledger.fail("\(ticket.id) was given up by its client, and came whole")
        }
    }

    /// - Parameter count: negative where nothing was made of it after all.
    private func arrived(_ request: FarOrigin.Request, by count: Int) {
        guard host != "am.test", let ticket = ticket(request.message) else { return }
        ticket.arrivals += count
    }

    // MARK: acting

    /// - Returns: false where there is nothing to do.
    func act(_ random: inout SeededGenerator) -> Bool {
        guard !isOver else { return false }
        if random.chance(3) { return leave(&random) }
        if !answers.isEmpty {
            goOn(random.below(answers.count), &random)
            return true
        }
        let waiting = far.requests.filter { wills[$0.number] == .waits }
        guard !waiting.isEmpty else { return false }
        let request = waiting[random.below(waiting.count)]
        guard request.message.isWhole else {
            guard random.chance(10) else { return false }
            begin(request, &random)
            // what of the request is still to come, nobody reads on such a connection
            if !isHTTP2 { far.close(cleanly: true) }
            return true
        }
        begin(request, &random)
        return true
    }

    /// The connection ends, or takes no further requests.
    private func leave(_ random: inout SeededGenerator) -> Bool {
        if isHTTP2, random.chance(600), !hasLeft {
            hasLeft = true
            let open = far.requests.filter { wills[$0.number] != .isOver }
            guard !open.isEmpty else {
                try? far.goAway(after: far.requests.last?.number ?? 0)
                return true
            }
            let last = random.below(open.count + 1)
            let first = far.requests.firstIndex { last < open.count && $0.number == open[last].number }
            // those from there on it has made nothing of
            let untouched = first.map { Array(far.requests[$0...]) } ?? []
            if untouched.contains(where: { $0.isAnswered }) {
                try? far.goAway(after: far.requests.last?.number ?? 0)
                return true
            }
            ledger.note("left behind")
            for request in untouched where wills[request.number] != .isOver {
                if counted.contains(request.number) { arrived(request, by: -1) }
                wills[request.number] = .hangs
            }
            try? far.goAway(
                after: first.map { $0 == 0 ? 0 : far.requests[$0 - 1].number } ?? far.requests.last?.number ?? 0)
            return true
        }
        far.close(cleanly: random.chance(500))
        return true
    }

    private func begin(_ request: FarOrigin.Request, _ random: inout SeededGenerator) {
        let number = request.number
        wills[number] = .answers
        if isHTTP2, random.chance(30) {
            if counted.contains(number) { arrived(request, by: -1) } else { counted.insert(number) }
            wills[number] = .isOver
            ledger.note("refused")
            return (try? far.refuse(number)) ?? ()
        }
        if random.chance(20) {
            wills[number] = .isOver
            ledger.note(isHTTP2 ? "stream reset" : "connection reset")
            return (try? far.reset(number)) ?? ()
        }
        if host == "am.test" { return authenticate(request, &random) }
        guard let ticket = ticket(request.message) else { return }
        if random.chance(60) { try? far.interim(number, 103, [("Link", "<x>")]) }
        if ticket.kind == .protected, !isLetThrough(request.message, ticket) { return refuse(request, ticket) }
        deliver(request, ticket, &random)
    }

    /// The answer names its request, so that it cannot be taken for another's.
    private func deliver(_ request: FarOrigin.Request, _ ticket: Ticket, _ random: inout SeededGenerator) {
        var body = Array("\(ticket.id) ".utf8)
        let size = random.chance(30) ? 300_000 : random.chance(100) ? 3_000 : 100
        let seed = UInt8(random.below(256))
        body += (0..<random.below(size)).map { UInt8(truncatingIfNeeded: $0) &+ seed }
        let fields = [
            (name: "X-Id", value: ticket.id), (name: "X-Length", value: "\(body.count)"),
            (name: "X-Hash", value: "\(Ledger.hash(body))"),
        ]
        if random.chance(100) {
            try? far.answer(request.number, random.chance(500) ? 204 : 304, fields, length: nil)
            return end(request.number, isChunked: false)
        }
        let isChunked = random.chance(500)
        try? far.answer(request.number, 200, fields, length: isChunked ? nil : body.count)
        guard request.method != "HEAD" else { return end(request.number, isChunked: false) }
        answers.append(
            Answer(
                number: request.number, rest: body[...], isChunked: isChunked,
                trailers: isChunked && random.chance(300) ? Array("x-end: \(ticket.id)\r\n".utf8) : [],
                cut: random.chance(30) ? random.below(body.count) : nil))
    }

    private func end(_ number: Int, isChunked: Bool) {
        wills[number] = .isOver
        try? far.end(number, isChunked: isChunked)
    }

    private func goOn(_ index: Int, _ random: inout SeededGenerator) {
        let answer = answers[index]
        let count = min(answer.rest.count, 1 + random.below(random.chance(300) ? 100 : 20_000))
        if let cut = answer.cut, answer.rest.count - count <= cut {
            answers.remove(at: index)
            wills[answer.number] = .isOver
            ledger.note("cut by \(isHTTP2 ? "h2" : "h1")")
            return (try? far.reset(answer.number)) ?? ()
        }
        try? far.send(answer.number, Array(answer.rest.prefix(count)), isChunk: answer.isChunked)
        answers[index].rest = answer.rest.dropFirst(count)
        guard answers[index].rest.isEmpty else { return }
        answers.remove(at: index)
        wills[answer.number] = .isOver
        try? far.end(answer.number, trailers: answer.trailers, isChunked: answer.isChunked)
    }

    private func answer(_ request: FarOrigin.Request, _ status: Int, _ fields: [(String, String)], _ body: String) {
        let bytes = Array(body.utf8)
        let fields = fields.map { (name: $0.0, value: $0.1) }
        try? far.answer(request.number, status, fields, length: bytes.count)
        if request.method != "HEAD" { try? far.send(request.number, bytes, isChunk: false) }
        end(request.number, isChunked: false)
    }

    // MARK: the protected resource and AM

    private func isLetThrough(_ message: SeenMessage, _ ticket: Ticket) -> Bool {
        guard ledger.letsThrough(message.start, ticket) else { return false }
        ledger.note("stepped up by \(isHTTP2 ? "h2" : "h1")")
        return true
    }

    private func refuse(_ request: FarOrigin.Request, _ ticket: Ticket) {
        let advice = "SSOADVICE advices=\"\(ledger.advice(for: ticket))\""
        answer(
            request, 401, [("X-Id", ticket.id), ("WWW-Authenticate", advice)],
            "refused \(ticket.id)")
    }

    private func authenticate(_ request: FarOrigin.Request, _ random: inout SeededGenerator) {
        func json(_ text: String, _ status: Int = 200) {
            answer(request, status, [("Content-Type", "application/json")], text)
        }
        switch random.below(40) {
        case 0: return json("{\"code\":500}", 500)
        case 1: return json("{\"code\":401}", 401)
        case 2: return json("nonsense")
        default: break
        }
        let (message, cookie) = (request.message, request.message["cookie"] ?? "")
        let asked = ledger.transaction(in: message.start, WireMessage.text(message.body), cookie: cookie)
        guard let (id, isKnown) = asked else { return }
        guard isKnown else { return json("{\"code\":401}", 401) }
        if message.body.isEmpty || random.chance(200) {
            let name = "{\"type\":\"NameCallback\",\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}"
            return json("{\"authId\":\"auth \(id) \",\"callbacks\":[\(name)]}")
        }
        ledger.grant(id)
        json("{\"tokenId\":\"OTHER\"}")
    }
}
