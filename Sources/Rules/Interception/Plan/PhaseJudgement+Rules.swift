/// Records for each phase how every interceptor was judged, for `explain`. The phases run as usual, but no gate skips an
/// interceptor.
extension PhaseJudgement {
    /// Records a rule that the phase evaluated.
    /// - Parameter refusal: why its environment does not allow it.
    mutating func add(
        _ rule: CompiledRule, _ holds: Bool, _ refusal: String?, _ subject: Subject, _ bodies: inout SubjectBodies,
        _ context: EditContext
    ) {
        let absence = rule.matcher.absence(context)?.description ?? refusal
        verdicts.append(
            absence.map { RuleVerdict(name: rule.name, matched: false, because: $0) }
                ?? rule.verdict(holds, subject, &bodies, takesPart: true))
    }

    /// Adds the rules that the phase did not reach.
    /// - Parameters:
    ///   - rules: all rules.
    ///   - stopped: the interceptor that stopped the chain.
    mutating func complete(
        _ rules: [CompiledRule], _ verdict: Verdict, _ stopped: String?, _ subject: Subject, _ bodies: SubjectBodies
    ) {
        var bodies = bodies
        let ended = verdict == .proceed ? nil : verdicts.last?.name
        let judged = Dictionary(verdicts.map { ($0.name, $0) }) { first, _ in first }
        verdicts = rules.compactMap { rule in
            judged[rule.name] ?? self.verdict(on: rule, subject, &bodies, ended: ended, stopped: stopped)
        }
    }

    private func verdict(
        on rule: CompiledRule, _ subject: Subject, _ bodies: inout SubjectBodies,
        ended: String?, stopped: String?
    ) -> RuleVerdict? {
        let edits = rule.takesPart(in: phase)
        if phase != .request, !edits { return nil }
        func waits(_ because: String) -> RuleVerdict {
            RuleVerdict(name: rule.name, matched: false, because: because, takesPart: false)
        }
        if phase == .request, rule.matcher.needsError { return waits("its condition tests the error") }
        if phase == .request, rule.matcher.needsResponse {
            return waits(
                ended.map { "its condition tests the response, and \($0) ended the phase first" }
                    ?? "its condition tests the response")
        }
        if phase == .request, !edits {
            var verdict = rule.verdict(nil, subject, &bodies, takesPart: false)
            if verdict.matched {
                verdict.because += rule.actsElsewhere
            }
            return verdict
        }
        if let ended {
            return RuleVerdict(name: rule.name, matched: false, because: "\(ended) ended the phase first")
        }
        return stopped.map {
            RuleVerdict(name: rule.name, matched: false, because: "not asked: \($0) stopped the chain")
        }
    }
}

extension CompiledRule {
    /// The phase in which a rule acts that has no edits of requests.
    fileprivate var actsElsewhere: String {
        if login != nil { return "; it logs in" }
        return response.isEmpty ? "; it runs in the error phase" : "; it runs in the response phase"
    }

    fileprivate func takesPart(in phase: PhaseJudgement.Phase) -> Bool {
        switch phase {
        case .request: !request.isEmpty
        case .beforeStepUp: seesResponses(at: .beforeStepUp)
        case .response: seesResponses(at: .delivery)
        case .error: seesErrors
        }
    }

    /// - Parameter holds: nil to evaluate the condition here.
    fileprivate func verdict(
        _ holds: Bool?, _ subject: Subject, _ bodies: inout SubjectBodies, takesPart: Bool
    ) -> RuleVerdict {
        let finding = matcher.condition.explain(subject, &bodies)
        let holds = holds ?? finding.holds
        var because = finding.because
        if holds, let sampler = matcher.sampler {
            because += "; it selects some of them (\(sampler.sampling.words))"
        }
        return RuleVerdict(
            name: name, matched: holds, because: because, misses: finding.misses, held: finding.held,
            takesPart: takesPart)
    }
}
