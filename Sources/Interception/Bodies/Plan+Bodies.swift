internal import ContentCoding
public import HTTPCodec

/// What a phase did to a message and its body.
public struct BodyOutcome: Sendable {
    public enum Body: Equatable, Sendable {
        /// What came goes on, in the framing in which it came.
        case asItCame
        /// These go on in its place, with their length; nothing of what came does.
        case replaced([UInt8])
        /// The message has no body. A Content-Length in its head is that of the answer to another request and stays.
        case none

        /// What goes on.
        public func bytes(insteadOf received: [UInt8]) -> [UInt8] {
            switch self {
            case .asItCame: received
            case .replaced(let bytes): bytes
            case .none: []
            }
        }
    }

    public var outcome: Outcome
    public var body: Body
}

/// Edits of bodies. Whoever runs a phase asks first whether a body is needed: where it is not, none is kept, and
/// `applyRequest` and `applyResponse` do all there is to do.
extension Plan {
    /// Whether a rule that applies to this request changes its body.
    /// - Parameter index: what `firstRequestMatch` answered.
    public func needsRequestBody(
        from index: Int, _ head: RequestHead, _ context: EditContext
    ) -> Bool {
        guard editsRequestBodies else { return false }
        let classification = context.classification
        // the rules are run on a copy, for what one of them changes decides on the next
        var head = head
        var context = context
        return needsBody(requestCandidates(from: index, classification)) { rule, outcome in
            guard
                rule.condition.holds(for: Subject(request: head, response: nil, classification: classification))
            else { return false }
            if rule.request.contains(where: { Self.isForBody($0, head.fields) }) { return true }
            rule.edit(&head, &context, &outcome)
            return false
        }
    }

    /// Whether a rule that applies to this response changes its body.
    /// - Parameter index: what `firstResponseMatch` answered.
    public func needsResponseBody(
        from index: Int, _ response: ResponseHead, request: RequestHead, _ context: EditContext
    ) -> Bool {
        guard editsResponseBodies else { return false }
        let classification = context.classification
        var response = response
        var context = context
        return needsBody(responseCandidates(from: index, classification)) { rule, outcome in
            let subject = Subject(request: request, response: response, classification: classification)
            guard rule.condition.holds(for: subject) else { return false }
            if rule.response.contains(where: { Self.isForBody($0, response.fields) }) { return true }
            rule.edit(&response, &context, &outcome)
            return false
        }
    }

    private func needsBody(_ indices: [Int], _ asks: (CompiledRule, inout Outcome) -> Bool) -> Bool {
        var outcome = Outcome()
        for index in indices where outcome.verdict == .proceed {
            if asks(rules[index], &outcome) { return true }
        }
        return false
    }

    private static func isForBody(_ edit: any Edit, _ fields: FieldTable) -> Bool {
        guard let edit = edit as? any BodyEdit else { return false }
        return edit.concerns(fields["Content-Type"].flatMap { MediaType($0) })
    }

    // MARK: the phases

    /// Runs the request phase on a request whose body is here.
    /// - Parameter index: what `firstRequestMatch` answered.
    public func applyRequest(
        from index: Int, to head: inout RequestHead, body arrival: EditedBody.Arrival, _ context: inout EditContext
    ) -> BodyOutcome {
        let classification = context.classification
        var arrival = arrival
        // RFC 9110 §14.5
        if case .whole(let bytes) = arrival, head.fields.first(named: "Content-Range") != nil { arrival = .part(bytes) }
        var body = EditedBody(arrival, head.fields, CodingLimits(size: context.bodyLimit))
        var outcome = begin(.request)
        for index in requestCandidates(from: index, classification) where outcome.verdict == .proceed {
            let rule = rules[index]
            let subject = Subject(request: head, response: nil, classification: classification)
            if applies(rule, to: subject, &outcome) { rule.edit(&head, &body, &context, &outcome) }
        }
        if explains { finish(&outcome, Subject(request: head, response: nil, classification: classification)) }
        guard body.isChanged else { return BodyOutcome(outcome: outcome, body: .asItCame) }
        return BodyOutcome(outcome: outcome, body: .replaced(body.settle(&head.fields)))
    }

    /// Runs the response phase on a response whose body is here.
    /// - Parameters:
    ///   - index: what `firstResponseMatch` answered.
    ///   - request: as it was sent.
    public func applyResponse(
        from index: Int, to response: inout ResponseHead, body arrival: EditedBody.Arrival, request: RequestHead,
        _ context: inout EditContext
    ) -> BodyOutcome {
        let classification = context.classification
        var arrival = arrival
        if case .whole(let bytes) = arrival, response.status == 206 { arrival = .part(bytes) }
        let cameWithBody = response.mayHaveBody(answering: request.method)
        var body = EditedBody(arrival, response.fields, CodingLimits(size: context.bodyLimit))
        var outcome = begin(.response)
        for index in responseCandidates(from: index, classification) where outcome.verdict == .proceed {
            let rule = rules[index]
            let subject = Subject(request: request, response: response, classification: classification)
            if applies(rule, to: subject, &outcome) { rule.edit(&response, &body, &context, &outcome) }
        }
        if explains {
            finish(&outcome, Subject(request: request, response: response, classification: classification))
        }
        guard response.mayHaveBody(answering: request.method) else {
            // what a body would be like that is not sent is known of the one that came alone (RFC 9110 §8.6)
            if body.isAsked || cameWithBody { EditedBody.forget(&response.fields) }
            return BodyOutcome(outcome: outcome, body: .none)
        }
        guard body.isChanged else { return BodyOutcome(outcome: outcome, body: .asItCame) }
        return BodyOutcome(outcome: outcome, body: .replaced(body.settle(&response.fields)))
    }
}

extension ResponseHead {
    /// RFC 9112 §6.3.
    fileprivate func mayHaveBody(answering method: Method) -> Bool {
        method != .head && status >= 200 && status != 204 && status != 304
    }
}
