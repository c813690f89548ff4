import Authorization
import Interception

/// Where a step-up waits for a person.
extension StepUpFilter {
    func ask(_ step: OpenStep, _ round: Round, _ context: inout FilterContext) -> FilterAction {
        // nobody else waits for this one's turn while a person thinks
        if step.isAgain { login?.judge(.refused) } else { login?.wait() }
        if let pause = pause(round, context) { return giveUp(pause, round.original, &context) }
        guard let store = context.person.transactions else {
            return giveUp(
                .stepUpFailed("a person would be asked for \(step.summary)"), round.original, &context)
        }
        let limit = self.limit ?? context.now + policy.hold
        // what is said last has to reach AM, and AM has to answer, while the app is still there
        let until = max(context.now, limit - timeForAM)
        let transaction = context.person.transaction(
            step, to: context.request, in: round.machine.realm, tree: round.advice.tree, at: policy.server.url,
            since: context.now, until: until)
        switch store.park(transaction, notify: policy.person.notify) {
        case .full(let words): return giveUp(.stepUpFailed(words), round.original, &context)
        case .parked(let id):
            stage = .asking(round, step, ParkedStep(id, store, since: context.now))
            context.note(.parked(id: id.description, milliseconds: until - context.now))
            return .ask(id, until: limit)
        }
    }

    /// Milliseconds of `hold` that are left for what comes after a person's answer.
    var timeForAM: Int { max(1, min(2_000, policy.hold / 10)) }

    /// Whether somebody has spoken.
    func look(_ round: Round, _ step: OpenStep, _ place: ParkedStep, _ context: inout FilterContext) -> FilterAction? {
        guard let verdict = place.look() else { return .ask(place.id, until: limit ?? .max) }
        func note(_ word: String) {
            context.note(.spoken(id: place.id.description, milliseconds: context.now - place.since, word: word))
        }
        var round = round
        switch verdict {
        case .answered(let told):
            note("answered")
            return tell(told, round, &context)
        case .denied:
            note("denied")
            return perform(round.machine.denied(), round, &context)
        case .displaced:
            return giveUp(
                .stepUpFailed("too many wait for a person, and most of them are this client's"), round.original,
                &context)
        }
    }

    /// Goes on with what a person said. What turns out to be no answer leaves the step open.
    private func tell(_ told: PersonAnswers, _ round: Round, _ context: inout FilterContext) -> FilterAction {
        var round = round
        do throws(OpenStep.Refusal) {
            return perform(try round.machine.told(told, context.circumstances), round, &context)
        } catch {
            // without the reason: it may hold what was typed
            context.note(.conversation("what the person said was no answer"))
            guard let step = round.machine.open else {
                return giveUp(.stepUpFailed("nobody is asked for anything"), round.original, &context)
            }
            return ask(step, round, &context)
        }
    }
}
