internal import HTTPCodec

/// A plan that explains itself tells with the outcome of each phase how that went for every interceptor. The phases are run
/// as they are for everybody, but every interceptor that takes part is looked at, and none passed over by its gate.
extension Plan {
    /// Whether the rule applies.
    func applies(_ rule: CompiledRule, to subject: Subject, _ outcome: inout Outcome) -> Bool {
        let holds = rule.condition.holds(for: subject)
        if explains { outcome.judgement?.verdicts.append(rule.verdict(holds, subject, takesPart: true)) }
        return holds
    }

    /// What a phase begins with.
    func begin(_ phase: PhaseJudgement.Phase) -> Outcome {
        var outcome = Outcome()
        if explains { outcome.judgement = PhaseJudgement(phase, []) }
        return outcome
    }

    /// Adds the interceptors that the phase did not come to.
    func finish(_ outcome: inout Outcome, _ subject: Subject) {
        guard let judgement = outcome.judgement else { return }
        let ended = outcome.verdict == .proceed ? nil : judgement.verdicts.last?.name
        var judged = judgement.verdicts[...]
        outcome.judgement?.verdicts = rules.compactMap { rule in
            if judged.first?.name == rule.name { return judged.popFirst() }
            return verdict(on: rule, judgement.phase, subject, ended: ended)
        }
    }

    private func verdict(
        on rule: CompiledRule, _ phase: PhaseJudgement.Phase, _ subject: Subject, ended: String?
    ) -> RuleVerdict? {
        let edits = phase == .request ? !rule.request.isEmpty : !rule.response.isEmpty && !rule.needsError
        if phase == .response, !edits { return nil }
        func waits(_ because: String) -> RuleVerdict {
            RuleVerdict(name: rule.name, matched: false, because: because, takesPart: false)
        }
        if phase == .request, rule.needsError { return waits("its condition asks why there is no answer") }
        if phase == .request, rule.needsResponse {
            return waits("its condition looks at the response, which is not there yet")
        }
        if phase == .request, !edits {
            var verdict = rule.verdict(rule.condition.holds(for: subject), subject, takesPart: false)
            if verdict.matched { verdict.because += "; it edits the response only" }
            return verdict
        }
        guard let ended else { return nil }
        return RuleVerdict(name: rule.name, matched: false, because: "\(ended) ended the chain before it")
    }
}

extension CompiledRule {
    fileprivate func verdict(_ holds: Bool, _ subject: Subject, takesPart: Bool) -> RuleVerdict {
        let finding = condition.explain(subject)
        return RuleVerdict(
            name: name, matched: holds, because: finding.because, misses: finding.misses, held: finding.held,
            takesPart: takesPart)
    }
}
