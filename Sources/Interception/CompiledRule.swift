internal import HTTPCodec

/// A `Rule` made ready for many requests.
struct CompiledRule: Sendable {
    let name: String
    let condition: CompiledCondition
    let needsResponse: Bool
    let needsError: Bool
    let request: [any RequestEdit]
    let response: [any ResponseEdit]
    private let bodies: BodyPolicy

    init(_ rule: Rule) {
        name = rule.name
        condition = CompiledCondition(rule.when)
        needsResponse = rule.when.needsResponse
        needsError = rule.when.needsError
        request = rule.request
        response = rule.response
        bodies = rule.bodies
    }

    func edit(_ head: inout RequestHead, _ context: inout EditContext, _ outcome: inout Outcome) {
        run(request, &outcome) { edit throws(EditFault) in try edit.apply(to: &head) }
    }

    func edit(_ head: inout ResponseHead, _ context: inout EditContext, _ outcome: inout Outcome) {
        run(response, &outcome) { edit throws(EditFault) in try edit.apply(to: &head) }
    }

    func edit(
        _ head: inout RequestHead, _ body: inout EditedBody, _ context: inout EditContext, _ outcome: inout Outcome
    ) {
        run(request, &outcome) { edit throws(EditFault) in
            if let effect = try change(edit, &head.fields, &body) { return effect }
            return try edit.apply(to: &head)
        }
    }

    func edit(
        _ head: inout ResponseHead, _ body: inout EditedBody, _ context: inout EditContext, _ outcome: inout Outcome
    ) {
        run(response, &outcome) { edit throws(EditFault) in
            if let effect = try change(edit, &head.fields, &body) { return effect }
            return try edit.apply(to: &head)
        }
    }

    /// Makes an edit of the body; nil where it is none.
    private func change(
        _ edit: any Edit, _ fields: inout FieldTable, _ body: inout EditedBody
    ) throws(EditFault) -> EditEffect? {
        guard let edit = edit as? any BodyEdit else { return nil }
        // either side may have changed the type since
        let type = fields["Content-Type"]
        body.contentType = type
        let effect = try edit.attempt(on: &body, bodies)
        if let new = body.contentType, new != type {
            let pair = Pair("Content-Type", new)
            try HeaderEdit.check(pair)
            fields.set(pair.name, pair.value)
        }
        return effect
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
                case .warned(let words): outcome.warnings.append("\(name): \(words)")
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
