import Authorization
import Interception

/// Waits for a person during a step-up.
extension StepUpFilter {
    func ask(_ step: OpenStep, _ round: Round, _ context: inout FilterContext) -> FilterAction {
        // other logins need not wait while a person thinks
        if step.isAgain { login?.judge(.refused) } else { login?.wait() }
        if let pause = pause(round, context) { return giveUp(pause, round.original, &context) }
        guard let store = context.stores.transactions else {
            return giveUp(
                .stepUpFailed("a person would be asked for \(step.summary)"), round.original, &context)
        }
        let limit = self.limit ?? context.now + policy.hold
        // the last answer must reach AM, and AM must respond, before the app's hold ends
        let until = max(context.now, limit - timeForAM)
        let transaction = context.transaction(
            step, in: round.machine.realm, tree: round.advice.tree, at: policy.server.url,
            since: context.now, until: until)
        switch store.park(transaction, notify: policy.person.notify) {
        case .full(let words): return giveUp(.stepUpFailed(words), round.original, &context)
        case .parked(let id, let ticket):
            stage = .asking(round, step, ParkedStep(id, ticket, store, since: context.now))
            context.note(.parked(id: id.description, milliseconds: until - context.now))
            return .waitFor(ticket, until: limit)
        }
    }

    /// Milliseconds of `hold` that are reserved for AM after a person's answer.
    var timeForAM: Int { max(1, min(2_000, policy.hold / 10)) }

    /// Continues if the person has answered; else waits on.
    func look(_ round: Round, _ step: OpenStep, _ place: ParkedStep, _ context: inout FilterContext) -> FilterAction? {
        guard let verdict = place.look() else { return .waitFor(place.ticket, until: limit ?? .max) }
        func note(_ word: String) {
            context.note(.spoken(id: place.id.description, milliseconds: context.now - place.since, word: word))
        }
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

    /// Continues with a person's answers. If they do not fit, the step stays open.
    private func tell(_ told: PersonAnswers, _ round: Round, _ context: inout FilterContext) -> FilterAction {
        do throws(OpenStep.Refusal) {
            return perform(try round.machine.told(told, context.circumstances), round, &context)
        } catch {
            // logs no reason, as it may hold the typed text
            context.note(.conversation("the person's answer is invalid"))
            guard let step = round.machine.open else {
                return giveUp(.stepUpFailed("nobody is asked for anything"), round.original, &context)
            }
            return ask(step, round, &context)
        }
    }
}
