internal import Formats

/// Groups the calls of one login by the aliases of secrets. A call sends the `authId` of the last response. A session opens an
/// authorization; its code is exchanged for tokens, which are refreshed.
struct JourneyStitcher {
    private(set) var journeys: [Journey] = []
    /// The journey that obtained a secret or continues with it.
    private var owners: [SecretAlias: Int] = [:]
    /// The journey of each call.
    private(set) var places: [UInt64: Int] = [:]
    /// The `authId`s that were sent and not issued again since.
    private var spent: Set<SecretAlias> = []
    /// The journeys that wait for a mailed link, newest last.
    private var waiting: [Int] = []

    /// The journey that an app ran for a transaction, until the resource shows AM's decision.
    private var transactions: [SecretAlias: Int] = [:]

    private static let mostWaiting = 256

    /// - Parameter trace: the next one by time.
    mutating func take(_ trace: JourneyTrace) {
        switch trace.part {
        case .begin: step(trace, of: startJourney(trace.flow, lacksBeginning: false))
        case .proceed:
            let owner = trace.sentAuthId.flatMap { owners[$0] }
            step(trace, of: owner ?? startJourney(trace.flow, lacksBeginning: true))
        case .resume: step(trace, of: suspended(trace) ?? startJourney(trace.flow, lacksBeginning: true))
        case .authorize, .exchange, .refresh, .userInfo, .logOut, .revoke: call(trace)
        }
    }

    private mutating func startJourney(_ flow: PackedFlow, lacksBeginning: Bool) -> Int {
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
            // AM may return the same session again; it stays with the first journey
            if owners[token.alias] == nil { owners[token.alias] = index }
        }
    }

    /// Links a journey to the one whose session it upgraded, in both directions.
    private mutating func kin(_ session: SecretAlias, _ index: Int) {
        let old = journeys[index].origin.flatMap { owners[$0.session] } ?? owners[session]
        guard let old, old != index else { return }
        if journeys[index].origin?.journey == nil {
            journeys[index].origin = Journey.Kinship(
                session: journeys[index].origin?.session ?? session, journey: journeys[old].id)
        }
        journeys[old].succeed(by: journeys[index].id)
    }

    /// The journey that a link resumes: the one that was given the link, else the only waiting one of this client, realm and
    /// server.
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

    /// Marks step-ups as failed whose transaction AM did not approve, even if the last call succeeded.
    /// - Parameter flows: the flows that the step-ups were made for.
    mutating func refuse(_ flows: Set<Int>) {
        var rest = flows
        for index in journeys.indices.reversed() where rest.remove(journeys[index].first[.parent]) != nil {
            journeys[index].refuse()
        }
    }

    // MARK: later calls

    private mutating func call(_ trace: JourneyTrace) {
        let given = Self.order(trace).first { owners[$0] != nil }
        guard let index = given.flatMap({ owners[$0] }) ?? beginning(trace) else { return }
        places[trace.flow.id] = index
        journeys[index].add(JourneyCall(flow: trace.flow, won: trace.won, given: given))
        win(trace.won, index)
        // revoking a token does not end the session
        if trace.part == .logOut { journeys[index].end(by: trace.flow) }
    }

    /// Begins a journey at a code or tokens of an unseen login.
    private mutating func beginning(_ trace: JourneyTrace) -> Int? {
        guard !trace.won.isEmpty, trace.part == .authorize || trace.part == .exchange else { return nil }
        return startJourney(trace.flow, lacksBeginning: true)
    }

    /// The secrets that identify the journey, the most specific first. Body parameters count before cookies, except for a logout.
    private static func order(_ trace: JourneyTrace) -> [SecretAlias] {
        guard trace.part == .logOut, let session = trace.session else { return trace.shown }
        return [session] + trace.shown
    }

    // MARK: use of tokens

    /// True if any request could be linked to a journey.
    var knowsAny: Bool { !owners.isEmpty || !transactions.isEmpty }

    /// Links a request to a journey by its secrets, and checks the result of a transaction that it shows.
    mutating func look(_ flow: PackedFlow) {
        let (index, transaction) = traces(of: flow)
        if let transaction { judge(transaction, by: flow) }
        guard let index, flow[.began] >= journeys[index].began else { return }
        journeys[index].use(flow)
    }

    /// The journey whose secrets a request shows.
    func user(of flow: PackedFlow) -> Int? { knowsAny ? traces(of: flow).user : nil }

    /// The limit of a body that is searched, in bytes.
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

    /// Decides by the first request with a transaction whether it was approved. AM's own response does not show that.
    private mutating func judge(_ transaction: SecretAlias, by flow: PackedFlow) {
        // after a step-up by Usher, the request showed another transaction in the end
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

    /// True if the response asks for another transaction or condition.
    private static func isAdvice(_ flow: PackedFlow) -> Bool {
        let isChanged = flow[.answerStatus] != 0
        let fields = flow.range(of: isChanged ? .answer : .response)
        let body = flow.range(of: isChanged && !flow.isEmpty(.answerBody) ? .answerBody : .responseBody)
        return challenges.contains { $0.next(in: flow.bytes.span.extracting(fields)) != nil }
            || condition.next(in: flow.bytes.span.extracting(body.prefix(mostBody))) != nil
    }
}
