/// A `Rule` made ready for many requests.
struct CompiledRule: Sendable {
    let name: String
    let condition: CompiledCondition
    let needsResponse: Bool
    let request: [RequestEdit]
    let response: [ResponseEdit]

    init(_ rule: Rule) {
        name = rule.name
        condition = CompiledCondition(rule.when)
        needsResponse = rule.when.needsResponse
        request = rule.request
        response = rule.response
    }

    /// Makes the edits of one phase, in order, up to the first that ends the chain. One that cannot be made ends it
    /// as well: nothing invalid is ever sent.
    func run<Change: Edit>(_ edits: [Change], on head: inout Change.Head, _ outcome: inout Outcome) {
        var notes: [String] = []
        do throws(EditFault) {
            for edit in edits where outcome.verdict == .proceed {
                switch edit.ending {
                case .respond(let answer):
                    let answer = try FieldEdit.checked(answer)
                    notes.append("answered \(answer.status) in the origin's place")
                    outcome.verdict = .respond(answer, interceptor: name)
                case .abort(let reason):
                    notes.append("aborted: \(reason)")
                    outcome.verdict = .abort(interceptor: name, reason: reason)
                case nil: notes += try edit.apply(to: &head)
                }
            }
        } catch {
            notes.append("aborted: \(error.reason)")
            outcome.verdict = .abort(interceptor: name, reason: error.reason)
        }
        if !notes.isEmpty { outcome.changes.append("\(name): \(notes.joined(separator: ", "))") }
    }
}

/// One edit of either phase.
protocol Edit {
    associatedtype Head

    /// Set where the edit ends the chain instead of changing anything.
    var ending: Ending? { get }

    /// Makes the change; says what it did.
    func apply(to head: inout Head) throws(EditFault) -> [String]
}

enum Ending {
    case respond(LocalAnswer)
    case abort(String)
}
