/// A client that closed its side may have gone, or may still wait for its answer.
extension Session {
    /// When a request is given up whose client has closed its side: nobody may be there to hear the answer, of which
    /// nothing has come yet.
    private var goodbye: Int {
        guard let ended = clientEndedAt else { return .max }
        switch phase {
        case .authenticating, .exchanging, .waiting: break
        case .preface, .greeting, .securing, .awaitingRequest, .collectingBody, .connecting, .peeking, .tunnel,
            .lingering, .closed:
            return .max
        }
        let patience = engine.settings.timeouts.halfClosed
        let hasBegun =
            responseStarted || held != nil || stepUp?.original != nil || (origin.state != .idle && origin.hasAnswered)
        return patience == 0 || hasBegun ? .max : max(ended, began) + patience
    }

    /// When `woke` has something to do.
    public var wakeAt: Int { min(deadline, goodbye) }

    /// The client may still listen: then it is told.
    mutating func giveUpForGoodbye(_ out: inout Outbox) {
        guard now >= goodbye else { return }
        if origin.state != .idle { releaseOrigin(reusable: false, &out) }
        answerLast(.saidGoodbye, &out)
    }
}
