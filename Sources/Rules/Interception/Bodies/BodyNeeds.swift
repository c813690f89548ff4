/// The use that rules make of bodies. A plan's needs are the union of its rules' needs.
struct BodyNeeds: OptionSet, Sendable {
    let rawValue: UInt8

    /// An edit of the request phase reads the request's body, or a template does.
    static let requestEdits = BodyNeeds(rawValue: 1)
    /// The same for the response.
    static let responseEdits = BodyNeeds(rawValue: 2)
    /// A condition reads the request's body.
    static let requestCondition = BodyNeeds(rawValue: 4)
    static let responseCondition = BodyNeeds(rawValue: 8)
    /// A template reads the request's body after it was sent.
    static let sentBody = BodyNeeds(rawValue: 16)
    /// An edit may respond or abort before the request is sent.
    static let ending = BodyNeeds(rawValue: 32)
    /// The request may be sent again.
    static let retry = BodyNeeds(rawValue: 64)

    static let conditions: BodyNeeds = [.requestCondition, .responseCondition]
    /// Uses of the request's body other than edits of it.
    static let requestReaders: BodyNeeds = [.requestCondition, .sentBody]
    static let requestBody: BodyNeeds = [.requestReaders, .requestEdits]
    static let responseBody: BodyNeeds = [.responseCondition, .responseEdits]

    /// Whether any of these needs is present.
    func has(_ some: BodyNeeds) -> Bool { !isDisjoint(with: some) }
}

extension BodyNeeds {
    /// The needs of one rule, from its condition and its edits.
    init(
        _ condition: CompiledCondition, _ request: PhaseEdits<any RequestEdit>,
        _ response: PhaseEdits<any ResponseEdit>, _ error: PhaseEdits<any ErrorEdit>
    ) {
        self = []
        if request.templates.requestBody || request.readsBody { insert(.requestEdits) }
        if response.templates.responseBody || response.readsBody { insert(.responseEdits) }
        if condition.asksBody(of: .request) { insert(.requestCondition) }
        if condition.asksBody(of: .response) { insert(.responseCondition) }
        if response.templates.requestBody || error.templates.requestBody { insert(.sentBody) }
    }
}
