/// One thing that happens to an exchange. Typed, for whoever reads it: the log, `doctor`, whatever keeps a journal. Only these
/// make sentences of it. Texts in it have been through the redaction of the configuration; none holds a secret.
public enum ExchangeMoment: Equatable, Sendable {
    // MARK: on the way

    /// The request has an Action.
    case recognised(Action, realm: String?, tree: String?, evidence: String)
    /// It goes by way of another proxy.
    case routed(by: String)
    /// The request goes out: for the first time, or again.
    case sent
    /// A phase of the interceptors was run by a plan that explains itself.
    case judged(PhaseJudgement)
    /// An interceptor changed the request or the response.
    case edited(RuleNote, in: PhaseJudgement.Phase)
    /// An interceptor wrote a line to the log.
    case logged(interceptor: String, String)
    /// An interceptor would have changed a body, and could not.
    case warned(RuleNote, in: PhaseJudgement.Phase)
    /// An interceptor answered in the place of whoever was asked.
    case responded(interceptor: String, status: Int)
    /// An interceptor lets no more requests through now: this one waits for its turn.
    case queued(interceptor: String)
    /// Its turn came after so long.
    case admitted(interceptor: String, milliseconds: Int)
    /// An interceptor lets no more through than that, and this request was not.
    case refused(interceptor: String, String)
    /// An interceptor broke what the client gets.
    case broken(interceptor: String, Breakage)
    /// An interceptor had the answer's body break off there.
    case cutShort(AnswerEnding.Cut)
    /// An interceptor has the end of the answer come so much later.
    case endDelayed(interceptor: String, milliseconds: Int)
    /// An interceptor has the message wait.
    case delayed(interceptor: String, milliseconds: Int)
    /// An interceptor lets the body pass no faster than so many bytes a second.
    case throttled(interceptor: String, rate: Int)
    /// An interceptor has the request sent again, for the nth time of so many, after a wait.
    case retried(interceptor: String, number: Int, of: Int, milliseconds: Int)
    /// An interceptor, or Usher itself, would have had it sent again, and for this reason it was not.
    case notRetried(interceptor: String?, String)
    /// The client gets the head of its answer.
    case delivered(status: Int)
    /// No answer of the origin could be had, or not all of it: an error type of RFC 9209 §2.3, and words for a person.
    case failed(token: String, details: String)
    /// The client showed a password that is not this user's.
    case unauthenticated(user: String)
    /// The client gave its request up and keeps its connection.
    case cancelled
    /// There was no room to keep the request's body.
    case unkept
    /// An answer was passed on without a look through it, for this reason.
    case unread(String)

    // MARK: transactional authorization

    /// The client deals with advice itself.
    case leftToClient
    case advice(status: Int, host: String, summary: String)
    /// What looked like an advice is none, for this reason.
    case notAdvice(String)
    /// The body of an answer holds an advice, and that resource takes none from there. Said once of each.
    case uncountedAdvice(resource: String)
    /// An advice is not acted on, for this reason.
    case declined(String)
    /// AM refused the answers that would be given, so often in a row; they are not tried for so many seconds.
    case heldOff(refusals: Int, seconds: Int)
    /// A call to AM goes out.
    case call(Action, number: Int, url: String)
    /// What the conversation with AM came to, in its own words.
    case conversation(String)
    /// A person is asked, under that id, for so many milliseconds at most.
    case parked(id: String, milliseconds: Int)
    /// That person spoke after so many milliseconds; the word.
    case spoken(id: String, milliseconds: Int, word: String)
    /// AM granted something, and the resource asks for the same again.
    case notApproved(String)
    /// The resource is asked once more, for this reason.
    case askedAgain(String)
    case replayed(method: String, url: String)
    /// The request cannot be sent again, for this reason; the original answer was delivered.
    case notReplayed(String)
    /// The step-up came to nothing, for this reason; the original answer was delivered.
    case stepUpFailed(String)
    /// The client went away, and with it the step-up or the login.
    case abandoned

    // MARK: decisions

    /// AM is asked whether a request may go out.
    case question(Action, number: Int, url: String)
    /// What came of that, in words.
    case decision(String)
    /// An advice was told in the form that the client understands.
    case translated(String)

    // MARK: logins

    /// A call of an interceptor's login goes out.
    case loginCall(Action, interceptor: String, number: Int, url: String)
    /// What an interceptor's login came to, in its words.
    case login(interceptor: String, String)

    // MARK: tokens

    /// A call goes out by which a token for that resource is had.
    case tokenCall(Action, resource: String, number: Int, url: String)
    /// What became of the token for that resource, in words.
    case token(resource: String, String)

    // MARK: sessions

    /// Which session goes along with a request that carries none, and what came of getting it.
    case session(String)
    /// A call of Usher's own login goes out.
    case sessionCall(Action, number: Int, url: String)
    /// Calls of Usher's own won something; another moment has the words.
    case won(Wins)

    // MARK: devices

    /// A call of a device goes out, in an app's own journey.
    case deviceCall(Action, number: Int, url: String)

    // MARK: tunnels

    /// The client asks for another name in the tunnel than the tunnel was opened to.
    case renamed(String, tunnel: String)
    case leftUnopened(UnopenedReason)
    /// The client's TLS was opened under that name.
    case opened(name: String, negotiated: String)
    /// The client would not have the certificate that it was shown: an error type, and words for a person.
    case certificateRefused(token: String, details: String)
    /// The client closed before its handshake for that name was done, beside another: it needs this one no more.
    case leftHandshake(String)
    /// A configuration that was reloaded has the connection no more.
    case noLongerPermitted

    /// Why a tunnel's TLS was left as it is, though its host is among those that are opened.
    public enum UnopenedReason: Equatable, Sendable {
        /// The client speaks none of the protocols that could be read; those that it offers.
        case protocols(String)
        /// This client refused the certificate for that name again and again.
        case refusals(String)
    }
}

extension RuleNote {
    fileprivate func redacted(_ shown: (String) -> String) -> RuleNote {
        RuleNote(shown(interceptor), shown(words), deed)
    }
}

extension ExchangeMoment {
    /// The same with its texts as they may be shown.
    /// - Parameter shown: what may be shown of a text.
    public func redacted(_ shown: (String) -> String) -> ExchangeMoment {
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

    /// A step-up, or a login of Usher's own, holds the exchange up.
    public var isStepUp: Bool {
        switch self {
        case .call, .loginCall, .parked, .heldOff: true
        default: false
        }
    }

    /// It goes without saying in every exchange: the record has it in a field.
    public var isPlain: Bool {
        switch self {
        case .sent, .delivered, .won: true
        default: false
        }
    }
}
