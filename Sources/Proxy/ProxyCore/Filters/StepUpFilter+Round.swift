import Authorization

extension StepUpFilter {
    /// One advice and the step-up for it.
    final class Round {
        let advice: Advice
        /// The response with the advice; the client gets it if the step-up fails.
        let original: HeldResponse
        var machine: StepUp

        init(_ advice: Advice, _ original: HeldResponse, _ machine: StepUp) {
            self.advice = advice
            self.original = original
            self.machine = machine
        }
    }
}
