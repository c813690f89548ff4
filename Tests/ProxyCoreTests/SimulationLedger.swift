import Authorization
import Formats
import Interception
import ProxyCore

/// One request of the simulation and what became of it.
final class Ticket {
    enum Kind { case plain, protected, answeredHere, unresolvable }

    let id: String
    let kind: Kind
    let method: String
    let body: [UInt8]
    let session: String
    /// Its client wanted no answer any more.
    var isGivenUp = false
    /// All its bytes have reached the proxy.
    var isDelivered = false
    /// Times that an origin had it whole.
    var arrivals = 0
    /// Times that a protected resource let it through.
    var accesses = 0
    /// The status of its answer, when that is here whole.
    var status: Int?

    init(id: String, kind: Kind, method: String, body: [UInt8], session: String) {
        self.id = id
        self.kind = kind
        self.method = method
        self.body = body
        self.session = session
    }

    var mayRepeat: Bool { method == "GET" || method == "HEAD" || method == "PUT" }
}

/// All that the sides of one simulated world know together.
final class Ledger {
    var tickets: [String: Ticket] = [:]
    /// Transactions that wait: whose session, and for which request.
    private var pending: [String: (session: String, ticket: String)] = [:]
    private var granted: [String: String] = [:]
    var failures: [String] = []
    /// What came about, so that nothing is taken for tried that never happens.
    private(set) var noted: Set<String> = []
    private var count = 0

    func number() -> Int {
        count += 1
        return count
    }

    func note(_ what: String) { noted.insert(what) }

    func fail(_ what: String) { if failures.count < 10 { failures.append(what) } }

    // MARK: the protected resource and AM

    /// The advice for a request that is not let through.
    func advice(for ticket: Ticket) -> String {
        let id = "t-\(number())"
        pending[id] = (ticket.session, ticket.id)
        return Base64.encode("{\"TransactionConditionAdvice\":[\"\(id)\"]}".utf8)
    }

    func letsThrough(_ target: String, _ ticket: Ticket) -> Bool {
        guard let mark = target.firstRange(of: "_txid=") else { return false }
        let id = String(target[mark.upperBound...].prefix { $0 != "&" })
        guard let owner = granted.removeValue(forKey: id) else { return false }
        if owner != ticket.id { fail("the grant of \(owner) was shown with \(ticket.id)") }
        ticket.accesses += 1
        return true
    }

    /// The transaction that a request to AM is about, and whether AM knows it.
    func transaction(in target: String, _ body: String, cookie: String) -> (id: String, isKnown: Bool)? {
        let text = PercentCoding.decode(target) + body
        guard let mark = text.firstRange(of: "t-") else {
            fail("a call to AM without a transaction")
            return nil
        }
        let id = "t-" + text[mark.upperBound...].prefix { $0.isNumber }
        guard let pending = pending[id] else { return (id, false) }
        if !cookie.contains("=\(pending.session)") || cookie.contains(",") {
            fail("the transaction of \(pending.session) was put to AM with \(cookie)")
        }
        return (id, true)
    }

    func grant(_ id: String) { granted[id] = pending.removeValue(forKey: id)?.ticket }

    // MARK: records

    /// Looks whether the records of a client's connection fit what it asked for.
    /// - Returns: the status of each request.
    @discardableResult
    func check(_ records: [ExchangeRecord], of tickets: [Ticket]) -> [String: Int] {
        var seen: [String: Int] = [:]
        for record in records {
            let id = record.urlText.split(separator: "/").last.map { String($0.prefix { $0 != "?" }) } ?? ""
            if let earlier = seen.updateValue(record.status, forKey: id) {
                fail("\(id) was recorded twice, as \(earlier) and \(record.status)")
            }
        }
        for ticket in tickets {
            if let status = ticket.status, seen[ticket.id] != status {
                // a head that never came whole has no name
                if status == 408, seen[""] == 408 { continue }
                fail("\(ticket.id) was answered with \(status) and recorded as \(seen[ticket.id] ?? 0)")
            }
            if ticket.arrivals > 0, seen[ticket.id] == nil { fail("\(ticket.id) has no record") }
            let most = (ticket.mayRepeat ? 2 : 1) * (ticket.kind == .protected ? 2 : 1)
            if ticket.arrivals > most { fail("\(ticket.id) reached its origin \(ticket.arrivals) times") }
            if ticket.accesses > 1, !ticket.mayRepeat { fail("\(ticket.id) was let through twice") }
        }
        return seen
    }

    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

extension Settings {
    /// What both simulations run by.
    static func simulated(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
        var settings = stepUpSettings {
            $0.hold = 900
            $0.maxResponseBytes = 4000
            $0.maxBodyBytes = 3000
        }
        settings.timeouts.connect = 100
        settings.timeouts.header = 200
        settings.timeouts.idle = 500
        settings.timeouts.response = 300
        settings.rules = [
            Rule(
                name: "gate", when: .test(.host, [.exact("gate.test")]),
                request: [Respond(.init(status: 418, body: Array("teapot".utf8)))])
        ]
        change(&settings)
        return settings
    }
}
