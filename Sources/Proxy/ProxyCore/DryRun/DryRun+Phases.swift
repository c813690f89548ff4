public import Interception

extension DryRun {
    /// One run of a phase of the interceptors.
    public struct PhaseRun: Sendable {
        public var judgement: PhaseJudgement
        /// The number of the call by Usher that passed the phase; nil for the client's request.
        public var call: Int?
        /// The number of attempts of the client's request, this one included.
        public var attempt: Int
        /// The events that the interceptors caused.
        public var notes: [LogEvent] = []
    }

    /// All runs of phases, in order.
    public var phases: [PhaseRun] {
        var runs: [PhaseRun] = []
        var announced: Int?
        var call: Int?
        var attempt = 0
        for event in events {
            switch event {
            case .call(_, let number, _), .question(_, let number, _): announced = number
            case .judged(let judgement):
                if judgement.phase == .request {
                    call = announced
                    announced = nil
                    if call == nil { attempt += 1 }
                }
                runs.append(PhaseRun(judgement: judgement, call: call, attempt: attempt))
                if judgement.phase != .request { call = nil }
            case .edited, .warned, .logged, .delayed, .throttled, .endDelayed:
                if !runs.isEmpty { runs[runs.count - 1].notes.append(event) }
            // these events end any call
            case .conversation, .replayed, .stepUpFailed, .notReplayed, .notApproved, .askedAgain, .decision: call = nil
            default: break
            }
        }
        return runs
    }

    /// The verdict on each interceptor, in file order. One that edits only responses shows its response phase, if there was one.
    /// Nil if the request did not get so far.
    public var interceptors: [RuleVerdict]? {
        guard isPlanned else { return nil }
        let own = phases.filter { $0.call == nil }
        let request = own.first { $0.judgement.phase == .request }?.judgement.verdicts ?? []
        let later = own.filter { $0.judgement.phase != .request }.flatMap(\.judgement.verdicts)
        return request.map { verdict in
            guard !verdict.takesPart else { return verdict }
            return later.last { $0.name == verdict.name } ?? verdict
        }
    }
}
