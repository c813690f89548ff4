internal import HTTPCodec

/// A plan that explains itself tells with the outcome of each phase how that went for every interceptor. The phases are run
/// as they are for everybody, but every interceptor that takes part is looked at, and none passed over by its gate.
extension Plan {
    /// Whether the rule applies: its condition holds, and it takes the exchange.
    func applies(
        _ rule: CompiledRule, to subject: Subject, _ bodies: inout SubjectBodies, _ context: inout EditContext,
        _ outcome: inout Outcome
    ) -> Bool {
        let holds = rule.judge(subject, &bodies, context) == .yes
        rule.warn(bodies, &context, &outcome)
        if explains {
            let verdict =
                rule.absence(context).map { RuleVerdict(name: rule.name, matched: false, because: $0.description) }
                ?? rule.verdict(holds, subject, &bodies, takesPart: true)
            outcome.judgement?.verdicts.append(verdict)
        }
        return holds && takes(rule, &context)
    }

    /// Whether the rule takes an exchange for which its condition holds. What takes some alone is shown at work.
    func takes(_ rule: CompiledRule, _ context: inout EditContext) -> Bool { explains || rule.takes(&context) }

    /// What a phase begins with.
    func begin(_ phase: PhaseJudgement.Phase) -> Outcome {
        var outcome = Outcome()
        if explains { outcome.judgement = PhaseJudgement(phase, []) }
        return outcome
    }

    /// Adds the interceptors that the phase did not come to.
    func finish(_ outcome: inout Outcome, _ subject: Subject, _ bodies: SubjectBodies) {
        var bodies = bodies
        guard let judgement = outcome.judgement else { return }
        let ended = outcome.verdict == .proceed ? nil : judgement.verdicts.last?.name
        let stopped = outcome.stopped
        let judged = Dictionary(judgement.verdicts.map { ($0.name, $0) }) { first, _ in first }
        outcome.judgement?.verdicts = rules.compactMap { rule in
            judged[rule.name] ?? verdict(on: rule, judgement.phase, subject, &bodies, ended: ended, stopped: stopped)
        }
    }

    private func verdict(
        on rule: CompiledRule, _ phase: PhaseJudgement.Phase, _ subject: Subject, _ bodies: inout SubjectBodies,
        ended: String?, stopped: String?
    ) -> RuleVerdict? {
        let edits = rule.takesPart(in: phase)
        if phase != .request, !edits { return nil }
        func waits(_ because: String) -> RuleVerdict {
            RuleVerdict(name: rule.name, matched: false, because: because, takesPart: false)
        }
        if phase == .request, rule.needsError { return waits("its condition asks why there is no answer") }
        if phase == .request, rule.needsResponse {
            return waits(
                ended.map { "its condition looks at the response, and \($0) ended the chain before there was one" }
                    ?? "its condition looks at the response, which is not there yet")
        }
        if phase == .request, !edits {
            var verdict = rule.verdict(nil, subject, &bodies, takesPart: false)
            if verdict.matched {
                verdict.because += rule.actsElsewhere
            }
            return verdict
        }
        if let ended {
            return RuleVerdict(name: rule.name, matched: false, because: "\(ended) ended the chain before it")
        }
        return stopped.map {
            RuleVerdict(name: rule.name, matched: false, because: "not asked: \($0) stopped the chain")
        }
    }
}

extension CompiledRule {
    /// Where it acts that has no part in the request phase.
    fileprivate var actsElsewhere: String {
        if login != nil { return "; it logs in" }
        return response.isEmpty ? "; it acts where there is no answer" : "; it acts on the response alone"
    }

    fileprivate func takesPart(in phase: PhaseJudgement.Phase) -> Bool {
        switch phase {
        case .request: !request.isEmpty
        case .beforeStepUp: !response.isEmpty && !needsError && comesBeforeStepUp
        case .response: !response.isEmpty && !needsError && !comesBeforeStepUp
        case .error: !error.isEmpty && !needsResponse
        }
    }

    /// - Parameter holds: nil where the words of the condition tell.
    fileprivate func verdict(
        _ holds: Bool?, _ subject: Subject, _ bodies: inout SubjectBodies, takesPart: Bool
    ) -> RuleVerdict {
        let finding = condition.explain(subject, &bodies)
        let holds = holds ?? finding.holds
        var because = finding.because
        if holds, let sampler { because += "; it takes some of them alone (\(sampler.sampling.words))" }
        return RuleVerdict(
            name: name, matched: holds, because: because, misses: finding.misses, held: finding.held,
            takesPart: takesPart)
    }
}
