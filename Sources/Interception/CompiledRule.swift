internal import HTTPCodec

/// A `Rule` made ready for many requests.
struct CompiledRule: Sendable {
    let name: String
    let condition: CompiledCondition
    let needsResponse: Bool
    let request: [any RequestEdit]
    let response: [any ResponseEdit]

    init(_ rule: Rule) {
        name = rule.name
        condition = CompiledCondition(rule.when)
        needsResponse = rule.when.needsResponse
        request = rule.request
        response = rule.response
    }

    func edit(_ head: inout RequestHead, _ outcome: inout Outcome) {
        run(request, &outcome) { edit throws(EditFault) in try edit.apply(to: &head) }
    }

    func edit(_ head: inout ResponseHead, _ outcome: inout Outcome) {
        run(response, &outcome) { edit throws(EditFault) in try edit.apply(to: &head) }
    }

    /// Makes the edits of one phase, in order, up to the first that ends the chain. One that cannot be made ends it
    /// as well: nothing invalid is ever sent.
    private func run<One>(
        _ edits: [One], _ outcome: inout Outcome, _ apply: (One) throws(EditFault) -> EditEffect
    ) {
        var notes: [String] = []
        do throws(EditFault) {
            for edit in edits where outcome.verdict == .proceed {
                switch try apply(edit) {
                case .changed(let words): notes += words
                case .respond(let answer):
                    notes.append("answered \(answer.status) in the origin's place")
                    outcome.verdict = .respond(answer, interceptor: name)
                case .abort(let reason):
                    notes.append("aborted: \(reason)")
                    outcome.verdict = .abort(interceptor: name, reason: reason)
                }
            }
        } catch {
            notes.append("aborted: \(error.reason)")
            outcome.verdict = .abort(interceptor: name, reason: error.reason)
        }
        if !notes.isEmpty { outcome.changes.append("\(name): \(notes.joined(separator: ", "))") }
    }
}
