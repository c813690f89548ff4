public import HTTPCodec

extension Plan {
    /// One verdict for every rule, in file order: the request phase is run on a copy, so each rule is judged by what the
    /// one before it left.
    /// - Parameter response: judges the rules' response side too. Without it a rule that only edits responses is judged
    ///   by what its condition says of the request.
    public func explain(
        _ request: RequestHead, _ classification: Classification?, response: ResponseHead? = nil
    ) -> [RuleVerdict] {
        var context = EditContext(classification)
        var request = request
        var response = response
        var ended: String?
        var verdicts = rules.map { rule in
            var (holds, because) = rule.condition.explain(
                Subject(request: request, response: nil, classification: classification))
            if rule.needsError {
                (holds, because) = (false, "its condition asks why there is no answer")
            } else if rule.needsResponse {
                (holds, because) = (false, "its condition looks at the response, which is not there yet")
            } else if rule.request.isEmpty {
                if holds { because += "; it edits the response only" }
            } else if let ended {
                (holds, because) = (false, "\(ended) ended the chain before it")
            } else if holds {
                var outcome = Outcome()
                rule.edit(&request, &context, &outcome)
                if outcome.verdict != .proceed { ended = rule.name }
            }
            return RuleVerdict(name: rule.name, matched: holds, because: because)
        }
        // an answer made in the request phase does not pass the response phase
        guard ended == nil, var answer = response.take() else { return verdicts }
        for (index, rule) in rules.enumerated() where !rule.response.isEmpty && !rule.needsError {
            var (holds, because) = rule.condition.explain(
                Subject(request: request, response: answer, classification: classification))
            if let ended {
                (holds, because) = (false, "\(ended) ended the chain before it")
            } else if holds {
                var outcome = Outcome()
                rule.edit(&answer, &context, &outcome)
                if outcome.verdict != .proceed { ended = rule.name }
            }
            if rule.request.isEmpty || rule.needsResponse {
                verdicts[index] = RuleVerdict(name: rule.name, matched: holds, because: because)
            }
        }
        return verdicts
    }
}
