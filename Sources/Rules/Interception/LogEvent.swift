/// An event of an exchange. Events are typed: the log, `doctor` and the journal turn them into sentences. Texts are already
/// redacted, and none holds a secret.
public enum LogEvent: Equatable, Sendable {
    // MARK: request and response

    /// The request has an Action.
    case recognised(Action, realm: String?, tree: String?, evidence: String)
    /// The request goes through an upstream proxy.
    case routed(by: String)
    /// The request is sent, for the first time or again.
    case sent
    /// A phase of the interceptors ran in a plan that explains itself.
    case judged(PhaseJudgement)
    /// An interceptor changed the request or the response.
    case edited(RuleNote, in: PhaseJudgement.Phase)
    /// An interceptor wrote a line to the log.
    case logged(interceptor: String, String)
    /// An interceptor could not change a body.
    case warned(RuleNote, in: PhaseJudgement.Phase)
    /// An interceptor responded in place of the origin or AM.
    case responded(interceptor: String, status: Int)
    /// The request waits at an interceptor's limit.
    case queued(interceptor: String)
    /// The limit admitted the request after this wait.
    case admitted(interceptor: String, milliseconds: Int)
    /// An interceptor's limit refused the request.
    case refused(interceptor: String, String)
    /// An interceptor replaced the response by a fault.
    case broken(interceptor: String, Breakage)
    /// An interceptor truncated the response's body.
    case cutShort(AnswerEnding.Cut)
    /// An interceptor delays the end of the response.
    case endDelayed(interceptor: String, milliseconds: Int)
    /// An interceptor delays the message.
    case delayed(interceptor: String, milliseconds: Int)
    /// An interceptor limits the body's rate, in bytes per second.
    case throttled(interceptor: String, rate: Int)
    /// An interceptor retries the request after a wait: retry `number` of at most `of`.
    case retried(interceptor: String, number: Int, of: Int, milliseconds: Int)
    /// A retry that an interceptor or Usher itself wanted did not take place, for this reason.
    case notRetried(interceptor: String?, String)
    /// The client receives the head of the response.
    case delivered(status: Int)
    /// The origin sent no response, or not all of it: an error type of RFC 9209 §2.3, and words for a person.
    case failed(token: String, details: String)
    /// The client sent a wrong password for this user.
    case unauthenticated(user: String)
    /// The client cancelled the request and keeps its connection.
    case cancelled
    /// Buffers had no room for the request's body.
    case unkept
    /// A response was passed on without being read, for this reason.
    case unread(String)

    // MARK: transactional authorization

    /// The client handles advice itself.
    case leftToClient
    case advice(status: Int, host: String, summary: String)
    /// A response looked like an advice but is none, for this reason.
    case notAdvice(String)
    /// A response body contains an advice that the resource's settings ignore. Reported once per resource.
    case uncountedAdvice(resource: String)
    /// An advice is not acted on, for this reason.
    case declined(String)
    /// AM refused the configured answers this many times in a row; Usher does not try them for this many seconds.
    case heldOff(refusals: Int, seconds: Int)
    /// A call to AM is sent.
    case call(Action, number: Int, url: String)
    /// The result of the conversation with AM, in its own words.
    case conversation(String)
    /// The exchange waits for a person, identified by this id, for at most this long.
    case parked(id: String, milliseconds: Int)
    /// The person replied with this word after this many milliseconds.
    case spoken(id: String, milliseconds: Int, word: String)
    /// AM granted the step-up, but the resource demands it again.
    case notApproved(String)
    /// The request is sent to the resource once more, for this reason.
    case askedAgain(String)
    case replayed(method: String, url: String)
    /// The request cannot be replayed, for this reason. The client gets the original response.
    case notReplayed(String)
    /// The step-up failed, for this reason. The client gets the original response.
    case stepUpFailed(String)
    /// The client disconnected, which ended the step-up or login.
    case abandoned

    // MARK: decisions

    /// AM is asked whether the request may be sent.
    case question(Action, number: Int, url: String)
    /// AM's decision, in words.
    case decision(String)
    /// An advice was rewritten into the form that the client understands.
    case translated(String)

    // MARK: logins

    /// A call of an interceptor's login is sent.
    case loginCall(Action, interceptor: String, number: Int, url: String)
    /// The result of an interceptor's login, in its words.
    case login(interceptor: String, String)

    // MARK: tokens

    /// A call for a token of this resource is sent.
    case tokenCall(Action, resource: String, number: Int, url: String)
    /// The result for the resource's token, in words.
    case token(resource: String, String)

    // MARK: sessions

    /// The session added to a request without one, or the result of obtaining it.
    case session(String)
    /// A call of Usher's own login is sent.
    case sessionCall(Action, number: Int, url: String)
    /// Usher's own calls obtained a credential; another event describes it.
    case won(Wins)

    // MARK: devices

    /// A device's call in an app's own journey is sent.
    case deviceCall(Action, number: Int, url: String)

    // MARK: tunnels

    /// The client's TLS names another host than the tunnel.
    case renamed(String, tunnel: String)
    case leftUnopened(UnopenedReason)
    /// The client's TLS was decrypted under this name.
    case opened(name: String, negotiated: String)
    /// The client rejected the certificate: an error type, and words for a person.
    case certificateRefused(token: String, details: String)
    /// The client closed this handshake unfinished, after it opened another connection for the same name.
    case leftHandshake(String)
    /// A reloaded configuration no longer permits the connection.
    case noLongerPermitted

    /// The reason why a tunnel was not decrypted although its host is configured for decryption.
    public enum UnopenedReason: Equatable, Sendable {
        /// The client offers only these protocols, none of which Usher can read.
        case protocols(String)
        /// The client has rejected the certificate of this name repeatedly.
        case refusals(String)
    }
}

extension RuleNote {
    fileprivate func redacted(_ shown: (String) -> String) -> RuleNote {
        RuleNote(shown(interceptor), shown(words), deed)
    }
}

extension LogEvent {
    /// Returns the event with redacted texts.
    /// - Parameter shown: redacts a text.
    public func redacted(_ shown: (String) -> String) -> LogEvent {
        switch self {
        case .recognised(let action, let realm, let tree, let evidence):
            .recognised(action, realm: realm, tree: tree, evidence: shown(evidence))
        case .routed(let peer): .routed(by: shown(peer))
        case .judged(let judgement): .judged(judgement.redacted(shown))
        case .edited(let note, let phase): .edited(note.redacted(shown), in: phase)
        case .warned(let note, let phase): .warned(note.redacted(shown), in: phase)
        case .logged(let interceptor, let words): .logged(interceptor: shown(interceptor), shown(words))
        case .retried(let interceptor, let number, let times, let milliseconds):
            .retried(interceptor: shown(interceptor), number: number, of: times, milliseconds: milliseconds)
        case .notRetried(let interceptor, let reason):
            .notRetried(interceptor: interceptor.map(shown), shown(reason))
        case .failed(let token, let details): .failed(token: token, details: shown(details))
        case .unauthenticated(let user): .unauthenticated(user: shown(user))
        case .unread(let reason): .unread(shown(reason))
        case .advice(let status, let host, let summary): .advice(status: status, host: host, summary: shown(summary))
        case .notAdvice(let reason): .notAdvice(shown(reason))
        case .uncountedAdvice(let resource): .uncountedAdvice(resource: shown(resource))
        case .declined(let reason): .declined(shown(reason))
        case .conversation(let words): .conversation(shown(words))
        case .notApproved(let words): .notApproved(shown(words))
        case .askedAgain(let reason): .askedAgain(shown(reason))
        case .replayed(let method, let url): .replayed(method: shown(method), url: shown(url))
        case .call(let action, let number, let url): .call(action, number: number, url: shown(url))
        case .question(let action, let number, let url): .question(action, number: number, url: shown(url))
        case .decision(let words): .decision(shown(words))
        case .translated(let words): .translated(shown(words))
        case .sessionCall(let action, let number, let url): .sessionCall(action, number: number, url: shown(url))
        case .loginCall(let action, let interceptor, let number, let url):
            .loginCall(action, interceptor: shown(interceptor), number: number, url: shown(url))
        case .login(let interceptor, let words): .login(interceptor: shown(interceptor), shown(words))
        case .deviceCall(let action, let number, let url): .deviceCall(action, number: number, url: shown(url))
        case .tokenCall(let action, let resource, let number, let url):
            .tokenCall(action, resource: shown(resource), number: number, url: shown(url))
        case .token(let resource, let words): .token(resource: shown(resource), shown(words))
        case .session(let words): .session(shown(words))
        case .notReplayed(let reason): .notReplayed(shown(reason))
        case .stepUpFailed(let reason): .stepUpFailed(shown(reason))
        case .renamed(let name, let tunnel): .renamed(shown(name), tunnel: shown(tunnel))
        case .leftUnopened(.protocols(let offered)): .leftUnopened(.protocols(shown(offered)))
        case .leftUnopened(.refusals(let name)): .leftUnopened(.refusals(shown(name)))
        case .opened(let name, let negotiated): .opened(name: shown(name), negotiated: negotiated)
        case .certificateRefused(let token, let details): .certificateRefused(token: token, details: shown(details))
        case .leftHandshake(let name): .leftHandshake(shown(name))
        case .responded(let interceptor, let status): .responded(interceptor: shown(interceptor), status: status)
        case .refused(let interceptor, let words): .refused(interceptor: shown(interceptor), shown(words))
        case .cutShort(let cut): .cutShort(cut.asked(by: shown(cut.interceptor)))
        case .endDelayed(let interceptor, let time): .endDelayed(interceptor: shown(interceptor), milliseconds: time)
        case .delayed(let interceptor, let time): .delayed(interceptor: shown(interceptor), milliseconds: time)
        case .throttled(let interceptor, let rate): .throttled(interceptor: shown(interceptor), rate: rate)
        case .queued(let interceptor): .queued(interceptor: shown(interceptor))
        case .admitted(let interceptor, let time): .admitted(interceptor: shown(interceptor), milliseconds: time)
        case .broken(let interceptor, let breakage): .broken(interceptor: shown(interceptor), breakage)
        case .sent, .won, .delivered, .unkept, .leftToClient, .heldOff, .parked,
            .spoken,
            .abandoned, .cancelled,
            .noLongerPermitted:
            self
        }
    }

    /// True if a step-up, or a login of Usher's own, delays the exchange.
    public var isStepUp: Bool {
        switch self {
        case .call, .loginCall, .parked, .heldOff: true
        default: false
        }
    }

    /// True for events of every exchange, which the record has as fields.
    public var isPlain: Bool {
        switch self {
        case .sent, .delivered, .won: true
        default: false
        }
    }
}
