/// What rules need of bodies, as far as they alone tell: that of a plan is what any of its rules needs.
struct BodyNeeds: OptionSet, Sendable {
    let rawValue: UInt8

    /// An edit of the request phase looks at the request's body, or takes a value from there.
    static let requestEdits = BodyNeeds(rawValue: 1)
    /// The same of the response.
    static let responseEdits = BodyNeeds(rawValue: 2)
    /// A condition asks what is in the request's body.
    static let requestCondition = BodyNeeds(rawValue: 4)
    static let responseCondition = BodyNeeds(rawValue: 8)
    /// An edit takes a value from the request's body once that was sent.
    static let sentBody = BodyNeeds(rawValue: 16)
    /// A request is answered or given up before it is sent.
    static let ending = BodyNeeds(rawValue: 32)
    /// It may be sent again.
    static let retry = BodyNeeds(rawValue: 64)

    static let conditions: BodyNeeds = [.requestCondition, .responseCondition]
    /// Somebody asks what is in the request's body beside those that edit it.
    static let requestReaders: BodyNeeds = [.requestCondition, .sentBody]
    static let requestBody: BodyNeeds = [.requestReaders, .requestEdits]
    static let responseBody: BodyNeeds = [.responseCondition, .responseEdits]

    /// Whether any of these is needed.
    func has(_ some: BodyNeeds) -> Bool { !isDisjoint(with: some) }
}

extension BodyNeeds {
    /// Of a rule, as far as its condition and its edits look at bodies.
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
