extension Outcome {
    /// Records an edit's effects other than changes of the message.
    /// - Returns: words for the log, a few each.
    mutating func take(
        _ effect: EditEffect, of name: String, lastDecides: Bool, _ context: inout EditContext
    ) -> [String] {
        switch effect {
        case .done, .changed, .kept, .suspend: break
        case .warned(let words): warnings.append(RuleNote(name, words))
        case .delay(let time): delays.append(DelayWish(interceptor: name, time: time))
        case .throttle(let rate): throttles.append(ThrottleWish(interceptor: name, rate: rate))
        case .retry(let policy): add(RetryWish(interceptor: name, policy: policy), lastDecides: lastDecides)
        case .noRetry:
            guard lastDecides, let last = retries.first else { break }
            retries.removeAll()
            return ["took back that \(last.interceptor) asked for another attempt"]
        case .stop:
            stopped = stopped ?? name
            return ["stopped the chain"]
        case .timeout(let time):
            if time < timeout?.milliseconds ?? .max { timeout = TimeoutWish(interceptor: name, milliseconds: time) }
            return ["gives up after \(time) ms without a response"]
        case .log(let parts): logged.append(LoggedText(interceptor: name, parts: parts))
        case .respond(let answer): return answered(answer, by: name)
        case .respondInSequence(let counter, let answers):
            var decisions = context.decisions
            let turn = context.isTrial ? 0 : decisions.turn(at: counter)
            context.decisions = decisions
            return answered(answers[min(turn, answers.count - 1)], by: name)
        case .abort(let reason): return aborted(reason, by: name)
        case .limit(let policy):
            let number = limits.count { $0.interceptor == name }
            limits.append(LimitWish(interceptor: name, number: number, policy: policy))
            return ["no more than \(policy.words)"]
        case .breaks(let breakage):
            verdict = .breaks(breakage, interceptor: name)
            return ["fault \(breakage.rawValue)"]
        case .ends(let ending):
            self.ending.add(ending.asked(by: name))
            return ["fault \(ending.words)"]
        case .loses(let fault):
            lost = lost ?? fault
            return ["fault \(fault.kinds.map(\.rawValue).joined(separator: ", "))"]
        case .chunks(let size):
            chunk = size
            return ["sent the body in chunks of \(size) bytes"]
        }
        return []
    }

    /// - Parameter lastDecides: true if the last interceptor decides about a retry.
    mutating func add(_ wish: RetryWish, lastDecides: Bool) {
        retries.insert(wish, at: lastDecides ? 0 : retries.count)
    }

    private mutating func answered(_ answer: DirectResponse, by name: String) -> [String] {
        verdict = .respond(answer, interceptor: name)
        return ["responded with \(answer.status) in the origin's place"]
    }

    mutating func aborted(_ reason: String, by name: String) -> [String] {
        verdict = .abort(interceptor: name, reason: reason)
        return ["aborted: \(reason)"]
    }
}
