public import Interception

/// The log's text for an event.
extension LogEvent {
    /// The kind of an event, as the log names it.
    public enum Kind: String, Sendable {
        /// The request, or a call of Usher's own, was classified.
        case action
        /// An interceptor changed something, responded or aborted.
        case interceptor
        case advice
        /// A call to AM in a step-up, and its response.
        case authenticate
        /// An event of a token that is added to requests.
        case token
        case replay
        /// The reason why a step-up was not done or failed, or why a response was made here.
        case note
    }

    public var kind: Kind {
        switch self {
        case .recognised, .call, .loginCall, .tokenCall, .deviceCall, .question: .action
        case .token: .token
        case .login, .judged, .edited, .warned, .logged, .responded, .queued, .admitted, .refused, .broken, .cutShort,
            .endDelayed, .delayed, .throttled, .retried, .notRetried:
            .interceptor
        case .advice: .advice
        case .conversation, .session, .sessionCall, .parked, .spoken: .authenticate
        case .replayed: .replay
        default: .note
        }
    }

    /// The event as one sentence.
    public var sentence: String {
        switch self {
        case .recognised(let action, _, _, let evidence): "\(action.rawValue): \(evidence)"
        case .routed(let peer): "sent on to \(peer)"
        case .sent: "sent"
        case .won: "a login or a token was obtained"
        case .judged(let judgement):
            "\(judgement.phase.rawValue) phase: \(judgement.verdicts.count { $0.matched && $0.takesPart }) interceptors apply"
        case .edited(let note, _), .warned(let note, _): "\(note.interceptor): \(note.words)"
        case .responded(let interceptor, let status): "\(interceptor): responded with status \(status)"
        case .refused(let interceptor, let words): "\(interceptor): refused: no more than \(words)"
        case .queued(let interceptor): "\(interceptor): waits for its turn"
        case .admitted(let interceptor, let milliseconds): "\(interceptor): its turn came after \(milliseconds) ms"
        case .broken(let interceptor, let breakage): "\(interceptor): the client gets no response: \(breakage.words)"
        case .cutShort(let cut): "\(cut.interceptor): the response body was cut off after \(cut.bytes) bytes"
        case .endDelayed(let interceptor, let milliseconds):
            "\(interceptor): the response ends \(milliseconds) ms late"
        case .delayed(let interceptor, let milliseconds): "\(interceptor): waits for \(milliseconds) ms"
        case .throttled(let interceptor, let rate): "\(interceptor): at most \(rate) bytes a second"
        case .retried(let interceptor, let number, let times, let milliseconds):
            "\(interceptor): sent again in \(milliseconds) ms (\(number) of \(times))"
        case .notRetried(let interceptor, let reason):
            (interceptor.map { "\($0): " } ?? "") + "not sent again: \(reason)"
        case .delivered(let status): "delivered with status \(status)"
        case .failed(_, let details), .certificateRefused(_, let details): details
        case .unauthenticated(let user): "wrong password for the user \(user)"
        case .cancelled: "the client cancelled the request: it reset its stream before the end of the response"
        case .unkept: "limits.buffered leaves no room for the request's body, so it is not sent again"
        case .unread(let reason): "\(reason); it was passed on"
        case .leftToClient: "the client handles advice itself: it sent x-authenticate-response"
        case .advice(let status, let host, let summary): "\(status) from \(host) asks for \(summary)"
        case .notAdvice(let reason): "no advice: \(reason)"
        case .uncountedAdvice(let resource):
            "no advice: the body has one, but the key advice of \(resource) does not list body "
                + "(authorization.resources)"
        case .declined(let reason): "no step-up: \(reason)"
        case .heldOff(let refusals, let seconds):
            "no step-up: AM refused these answers \(refusals == 1 ? "once" : "\(refusals) times in a row"), so they are not "
                + "tried again for \(seconds) s (authorization.lockout); the original response was delivered"
        case .call(let action, let number, let url): "\(action.rawValue): call \(number) of the step-up to \(url)"
        case .sessionCall(let action, let number, let url):
            "\(action.rawValue): call \(number) of Usher's own login to \(url)"
        case .loginCall(let action, let interceptor, let number, let url):
            "\(action.rawValue): call \(number) of the login of \(interceptor) to \(url)"
        case .question(let action, let number, let url): "\(action.rawValue): question \(number) to \(url)"
        case .decision(let words), .translated(let words): words
        case .login(let interceptor, let words), .logged(let interceptor, let words): "\(interceptor): \(words)"
        case .deviceCall(let action, let number, let url): "\(action.rawValue): call \(number) of a device to \(url)"
        case .tokenCall(let action, let resource, let number, let url):
            "\(action.rawValue): call \(number) for a token for \(resource) to \(url)"
        case .token(let resource, let words): "tokens of \(resource): \(words)"
        case .conversation(let words), .session(let words): words
        case .parked(let id, let milliseconds):
            "waits for a person as \(id), for \(milliseconds) ms at most (usher answer \(id))"
        case .spoken(let id, let milliseconds, let word): "\(id) was \(word) after \(milliseconds) ms"
        case .notApproved(let words): "AM did not approve the transaction: \(words)"
        case .askedAgain(let reason): "\(reason); the resource is asked again"
        case .replayed(let method, let url): "\(method) \(url) is sent again"
        case .notReplayed(let reason): "no replay: \(reason); the original response was delivered"
        case .stepUpFailed(let reason): "the step-up failed: \(reason); the original response was delivered"
        case .abandoned: "the client disconnected; its work was cancelled"
        case .renamed(let name, let tunnel): "the client asks for \(name) (SNI) in a tunnel to \(tunnel)"
        case .leftUnopened(let reason): "not opened: \(reason.sentence)"
        case .leftHandshake(let name):
            "the client closed its handshake for \(name) because it uses another connection"
        case .opened(let name, let negotiated): "opened as \(name): \(negotiated)"
        case .noLongerPermitted: "cancelled: the reloaded configuration no longer permits it"
        }
    }
}

extension LogEvent.UnopenedReason {
    public var sentence: String {
        switch self {
        case .protocols(let offered): "the client offers only \(offered) (ALPN), which Usher does not support"
        case .refusals(let name):
            "this client keeps refusing Usher's certificate for \(name) (tls.on_refusal)"
        }
    }
}
