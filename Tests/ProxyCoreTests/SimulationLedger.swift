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
    var pending: [String: (session: String, ticket: String)] = [:]
    var granted: [String: String] = [:]
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

    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
