import Authorization

/// A login's conversation. It is a class that can outlive its exchange: a call that was sent takes effect unheard, and its result
/// serves other requests.
final class BackgroundLogin<Talk: LoginTalk> {
    let fetch: CredentialFetch<Talk.Value>
    private var talk: Talk

    init(_ fetch: CredentialFetch<Talk.Value>, _ talk: Talk) {
        self.fetch = fetch
        self.talk = talk
    }

    /// The last call uses up its credential, such as a refresh token.
    var spends: Bool { talk.spends }

    func begin() -> LoginCommand<Talk.Value> { talk.begin() }

    func answered(_ response: HeldResponse, _ now: Int) -> LoginCommand<Talk.Value> {
        talk.answered(response.head, body: response.body, now: now)
    }
}

extension BackgroundLogin: DetachedCall {
    /// True, as later requests use the result, even after a restart.
    var isAwaited: Bool { true }

    func detach(until time: Int) { fetch.goesOn(until: time) }

    func heard(_ response: HeldResponse, _ now: LoginTime) {
        switch answered(response, now.seconds) {
        case .won(let value): fetch.win(value, now)
        case .failed(let fault): fetch.fail(fault, now)
        // no exchange is left to make another call
        case .send: break
        }
    }
}

/// Gets the response of a call whose exchange is over.
protocol DetachedCall: AnyObject {
    /// The response is still useful while the process drains.
    var isAwaited: Bool { get }
    /// The call continues without its exchange, up to this time.
    func detach(until time: Int)
    func heard(_ response: HeldResponse, _ now: LoginTime)
}
