internal import Formats
internal import Interception

/// The facts of a call to AM for its journey, found through aliases without parsing JSON.
struct JourneyTrace {
    enum Part {
        /// Calls of the authenticate endpoint: without an `authId`, with one, through a mailed link.
        case begin, proceed, resume
        case authorize, exchange, refresh, userInfo
        /// The end of a session, the revocation of a token.
        case logOut, revoke

        init?(_ action: Action) {
            switch action {
            case .startAuthenticate: self = .begin
            case .authenticate: self = .proceed
            case .resumeAuthenticate: self = .resume
            case .authorize: self = .authorize
            case .exchangeToken: self = .exchange
            case .refreshToken: self = .refresh
            case .userInfo: self = .userInfo
            case .logout, .endSession: self = .logOut
            case .revokeToken: self = .revoke
            default: return nil
            }
        }

        var isStep: Bool {
            switch self {
            case .begin, .proceed, .resume: true
            case .authorize, .exchange, .refresh, .userInfo, .logOut, .revoke: false
            }
        }
    }

    let flow: PackedFlow
    let part: Part
    /// All aliases in the request, the body's first.
    private(set) var shown: [SecretAlias] = []
    private(set) var sentAuthId: SecretAlias?
    private(set) var givenAuthId: SecretAlias?
    /// The session in the request.
    private(set) var session: SecretAlias?
    private(set) var won: [JourneyToken] = []
    /// The ids of mailed links to the journey.
    private(set) var links: [SecretAlias] = []
    private(set) var ending = JourneyEnding.unread

    /// The limit of aliases in one message.
    private static let most = 32
    /// Session cookies of application servers, which are not AM's.
    private static let containers: Set<String> = ["jsessionid", "phpsessid", "sid", "session_id", "sessionid"]
    private static let suspension = ByteSearch(Array("SuspendedTextOutputCallback".utf8))

    /// - Returns: nil if the call belongs to no journey.
    init?(_ flow: PackedFlow) {
        guard let action = flow.text(.action), let part = Part(Action(rawValue: action)) else { return nil }
        self.flow = flow
        self.part = part
        readRequest()
        readAnswer()
    }

    // MARK: the request

    private mutating func readRequest() {
        let isSent = !flow.isEmpty(.sentMethod)
        let bodies: [FlowPart] = isSent && !flow.isEmpty(.sentBody) ? [.sentBody, .requestBody] : [.requestBody]
        for part in bodies { read(part) { $0.show($1, $2) } }
        for part in [isSent ? FlowPart.sentURL : .target, isSent ? .sent : .request] {
            read(part) { $0.show($1, $2) }
        }
    }

    private mutating func show(_ alias: SecretAlias, _ place: Int) {
        if alias.kind == .authId { sentAuthId = sentAuthId ?? alias }
        if alias.kind == .session, session == nil, !Self.isContainer(name(place)) { session = alias }
        if shown.count < Self.most { shown.append(alias) }
    }

    static func isContainer(_ name: String) -> Bool { containers.contains(ASCII.lowercased(name)) }

    private mutating func read(_ part: FlowPart, _ body: (inout JourneyTrace, SecretAlias, Int) -> Void) {
        AliasScan.visit(flow.bytes, flow.range(of: part)) { alias, range in body(&self, alias, range.lowerBound) }
    }

    /// The name of the value that the alias at this place replaces.
    private func name(_ place: Int) -> String { AliasScan.name(before: place, flow.bytes) }

    // MARK: the answer

    private mutating func readAnswer() {
        let isChanged = flow[.answerStatus] != 0
        let body: FlowPart = isChanged && !flow.isEmpty(.answerBody) ? .answerBody : .responseBody
        read(body) { $0.win($1, $2) }
        read(isChanged ? .answer : .response) { $0.winField($1, $2) }
        if part.isStep { ending = ending(body) }
    }

    private mutating func win(_ alias: SecretAlias, _ place: Int) {
        switch alias.kind {
        case .authId: givenAuthId = givenAuthId ?? alias
        case .code where ASCII.equal(name(place), "suspendedId"): if links.count < Self.most { links.append(alias) }
        default: add(JourneyToken.Kind(named: name(place)), alias)
        }
    }

    /// Counts a cookie as the session if the body has none.
    private mutating func winField(_ alias: SecretAlias, _ place: Int) {
        if alias.kind == .session {
            guard part.isStep, !won.contains(where: { $0.kind == .session }), !Self.isContainer(name(place)) else {
                return
            }
            add(.session, alias)
        } else if !part.isStep {
            add(JourneyToken.Kind(named: name(place)), alias)
        }
    }

    private mutating func add(_ kind: JourneyToken.Kind?, _ alias: SecretAlias) {
        guard let kind, won.count < Self.most, !won.contains(where: { $0.alias == alias }) else { return }
        won.append(JourneyToken(kind: kind, alias: alias, flow: flow))
    }

    private func ending(_ body: FlowPart) -> JourneyEnding {
        guard let message = JourneyStep.answer(flow) else { return .fails }
        guard (200..<300).contains(message.status) else { return .refuses }
        let range = flow.range(of: body)
        if Self.suspension.next(in: flow.bytes.span.extracting(range)) != nil { return .suspends }
        if givenAuthId != nil { return .asks }
        // success is JSON without an authId, which a truncated body may have had
        if message.isCut { return .unread }
        return flow.bytes[range].first { !Self.isSpace($0) } == 0x7B ? .succeeds : .refuses
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == ASCII.space || byte == ASCII.lf || byte == ASCII.cr || byte == ASCII.tab
    }
}
