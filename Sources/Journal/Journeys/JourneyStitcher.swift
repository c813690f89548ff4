internal import Formats

/// Puts calls together that belong to one login: an `authId` that one answer gives is sent by the next call, a session opens
/// an authorization, its code is exchanged for tokens, and these are renewed. Where a secret leads is told by its alias.
struct JourneyStitcher {
    private(set) var journeys: [Journey] = []
    /// Which journey won a secret, or was given it to go on by.
    private var owners: [SecretAlias: Int] = [:]
    /// The journey of each call.
    private(set) var places: [UInt64: Int] = [:]
    /// Those `authId`s that were sent, and not given since.
    private var spent: Set<SecretAlias> = []
    /// Those that wait for a link that was mailed, the newest last.
    private var waiting: [Int] = []

    /// The journey that an app ran for a transaction, until the resource has told what AM made of that.
    private var transactions: [SecretAlias: Int] = [:]

    private static let mostWaiting = 256

    /// - Parameter trace: the next in the order of time.
    mutating func take(_ trace: JourneyTrace) {
        switch trace.part {
        case .begin: step(trace, of: begin(trace.flow, lacksBeginning: false))
        case .proceed:
            let owner = trace.sentAuthId.flatMap { owners[$0] }
            step(trace, of: owner ?? begin(trace.flow, lacksBeginning: true))
        case .resume: step(trace, of: suspended(trace) ?? begin(trace.flow, lacksBeginning: true))
        case .authorize, .exchange, .refresh, .userInfo, .logOut, .revoke: call(trace)
        }
    }

    private mutating func begin(_ flow: PackedFlow, lacksBeginning: Bool) -> Int {
        journeys.append(Journey(flow, lacksBeginning: lacksBeginning))
        return journeys.count - 1
    }

    // MARK: the login

    private mutating func step(_ trace: JourneyTrace, of index: Int) {
        places[trace.flow.id] = index
        if journeys[index].steps.isEmpty, let session = trace.session {
            journeys[index].origin = Journey.Kinship(
                session: session, journey: owners[session].map { journeys[$0].id })
        }
        if trace.part == .begin, journeys[index].parent == nil {
            for alias in trace.shown where alias.kind == .transaction { transactions[alias] = index }
        }
        let isRepeated = trace.sentAuthId.map { !spent.insert($0).inserted } ?? false
        journeys[index].add(trace, isRepeated: isRepeated)
        waiting.removeAll { $0 == index }
        if journeys[index].isSuspended { waiting.append(index) }
        if waiting.count > Self.mostWaiting { waiting.removeFirst() }
        if let given = trace.givenAuthId {
            spent.remove(given)
            owners[given] = index
        }
        for link in trace.links { owners[link] = index }
        guard trace.ending == .succeeds else { return }
        win(trace.won, index)
    }

    private mutating func win(_ tokens: [JourneyToken], _ index: Int) {
        for token in tokens {
            journeys[index].add(token)
            if token.kind == .session { kin(token.alias, index) }
            // what somebody else won before stays theirs: AM gave the same session again
            if owners[token.alias] == nil { owners[token.alias] = index }
        }
    }

    /// What upgraded a session says so on either side.
    private mutating func kin(_ session: SecretAlias, _ index: Int) {
        let old = journeys[index].origin.flatMap { owners[$0.session] } ?? owners[session]
        guard let old, old != index else { return }
        if journeys[index].origin?.journey == nil {
            journeys[index].origin = Journey.Kinship(
                session: journeys[index].origin?.session ?? session, journey: journeys[old].id)
        }
        journeys[old].succeed(by: journeys[index].id)
    }

    /// Where no answer told the link, it is that of the one login of this realm that this client had put aside.
    private func suspended(_ trace: JourneyTrace) -> Int? {
        if let link = trace.shown.first(where: { $0.kind == .code && owners[$0] != nil }) { return owners[link] }
        let client = Self.host(trace.flow)
        let fitting = waiting.filter { index in
            let first = journeys[index].first
            return Self.host(first) == client && first[.parent] == trace.flow[.parent]
                && first[.realm] == trace.flow[.realm] && first[.authority] == trace.flow[.authority]
        }
        return fitting.count == 1 ? fitting.first : nil
    }

    /// A client's address without its port.
    private static func host(_ flow: PackedFlow) -> ArraySlice<UInt8> {
        let client = flow[.client]
        guard client.firstIndex(of: ASCII.colon) == client.lastIndex(of: ASCII.colon) || client.first == 0x5B,
            let colon = client.lastIndex(of: ASCII.colon)
        else { return client }
        return client[..<colon]
    }

    /// A step-up whose transaction AM did not approve has failed, whatever its last call was answered.
    /// - Parameter flows: those that the step-ups were made for.
    mutating func refuse(_ flows: Set<Int>) {
        var rest = flows
        for index in journeys.indices.reversed() where rest.remove(journeys[index].first[.parent]) != nil {
            journeys[index].refuse()
        }
    }

    // MARK: what follows

    private mutating func call(_ trace: JourneyTrace) {
        let given = Self.order(trace).first { owners[$0] != nil }
        guard let index = given.flatMap({ owners[$0] }) ?? beginning(trace) else { return }
        places[trace.flow.id] = index
        journeys[index].add(JourneyCall(flow: trace.flow, won: trace.won, given: given))
        win(trace.won, index)
        // a token may be revoked, and the session goes on
        if trace.part == .logOut { journeys[index].end(by: trace.flow) }
    }

    /// A code or tokens that come of a login which nobody saw.
    private mutating func beginning(_ trace: JourneyTrace) -> Int? {
        guard !trace.won.isEmpty, trace.part == .authorize || trace.part == .exchange else { return nil }
        return begin(trace.flow, lacksBeginning: true)
    }

    /// A form says more than the cookies that happen to come with it.
    private static func order(_ trace: JourneyTrace) -> [SecretAlias] {
        guard trace.part == .logOut, let session = trace.session else { return trace.shown }
        return [session] + trace.shown
    }

    // MARK: what it is used for

    /// There is something by which a request may be known.
    var knowsAny: Bool { !owners.isEmpty || !transactions.isEmpty }

    /// Looks whether a request came with anything that a journey won, and what became of the transaction that it shows.
    mutating func look(_ flow: PackedFlow) {
        let (index, transaction) = traces(of: flow)
        if let transaction { judge(transaction, by: flow) }
        guard let index, flow[.began] >= journeys[index].began else { return }
        journeys[index].use(flow)
    }

    /// Bytes of a body that are looked at.
    private static let mostBody = 16 << 10

    private func traces(of flow: PackedFlow) -> (user: Int?, transaction: SecretAlias?) {
        let isSent = !flow.isEmpty(.sentMethod)
        var user: Int?
        var transaction: SecretAlias?
        func look(_ range: Range<Int>) {
            guard user == nil || transaction == nil && !transactions.isEmpty else { return }
            AliasScan.visit(flow.bytes, range) { alias, _ in
                if user == nil { user = owners[alias] }
                if transaction == nil, transactions[alias] != nil { transaction = alias }
            }
        }
        look(flow.range(of: isSent ? .sent : .request))
        look(flow.range(of: isSent ? .sentURL : .target))
        let body = flow.range(of: .requestBody)
        if body.count <= Self.mostBody { look(body) }
        return (user, transaction)
    }

    /// AM says the same of a transaction that was refused: whether it was, the first request that shows it tells.
    private mutating func judge(_ transaction: SecretAlias, by flow: PackedFlow) {
        // where Usher stepped up meanwhile, another transaction was shown in the end
        guard let index = transactions[transaction], !flow.flags.contains(.steppedUp),
            let last = journeys[index].steps.last, flow[.began] >= last.end
        else { return }
        let isRefused = Self.isAdvice(flow)
        guard isRefused || (200..<400).contains(flow[.status]) else { return }
        transactions[transaction] = nil
        if isRefused { journeys[index].refuse() }
    }

    private static let challenges = ["SSOADVICE", "composite_advice"].map { ByteSearch(Array($0.utf8)) }
    private static let condition = ByteSearch(MessageRedactor.transactionAdvice)

    /// It asks for another transaction, or for something else that AM has to grant.
    private static func isAdvice(_ flow: PackedFlow) -> Bool {
        let isChanged = flow[.answerStatus] != 0
        let fields = flow.range(of: isChanged ? .answer : .response)
        let body = flow.range(of: isChanged && !flow.isEmpty(.answerBody) ? .answerBody : .responseBody)
        return challenges.contains { $0.next(in: flow.bytes.span.extracting(fields)) != nil }
            || condition.next(in: flow.bytes.span.extracting(body.prefix(mostBody))) != nil
    }
}
