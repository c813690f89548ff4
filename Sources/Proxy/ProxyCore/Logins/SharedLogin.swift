import Authorization
import HTTPCodec
import Interception

/// A conversation with a server that logs in. It is a value: it takes responses and returns the next step.
protocol LoginTalk: Sendable {
    associatedtype Value: Credential
    mutating func begin() -> LoginCommand<Value>
    /// Takes the response to the last call.
    /// - Parameter now: seconds since 1970.
    mutating func answered(_ head: ResponseHead, body: [UInt8], now: Int) -> LoginCommand<Value>
    /// The last call uses up its credential, even if the response is lost.
    var spends: Bool { get }
}

extension LoginTalk {
    var spends: Bool { false }
}

/// One exchange's way to a login's result: it takes an existing one, waits for another exchange, or logs in for all. The filter
/// decides what the exchange does then.
final class SharedLogin<Talk: LoginTalk> {
    typealias Value = Talk.Value

    /// The next step once the result is there.
    enum Purpose {
        /// Send the request.
        case send
        /// Send the request again; the client gets this response if the login fails.
        case renew(HeldResponse)
    }

    enum Outcome {
        /// The result existed, or another exchange got it.
        case found(Purpose)
        case won(Value, Purpose)
        /// The login failed for this reason; the existing result is used until it ends.
        case kept(String, Purpose)
        /// There is no result, for this reason.
        case lacking(String, Purpose)
        /// - Parameter detachedCall: gets the response if this exchange is over.
        case call(ServerCall, url: String, detachedCall: (any DetachedCall)?)
        case waitFor(WaitingTicket, until: Int)
    }

    // indirect: it is read often, and the rare cases are large
    private indirect enum Stage {
        case watching
        /// The result is at hand, and the request has not gone out since.
        case ready
        /// Another exchange logs in.
        case queueing(Purpose, CredentialWait<Value>)
        case talking(Purpose, BackgroundLogin<Talk>)
    }

    /// The wanted result and its store.
    struct Wanted {
        let key: Value.Key
        let store: any CredentialStore<Value>
        let talk: () -> Talk
    }

    private var stage = Stage.watching
    private(set) var limit: Int?
    /// The result that the request carries.
    var session: CredentialLedger<Value>.Kept?
    /// The current attempt carries the result.
    var isSent = false
    /// The exchange has renewed the result. It renews once: a new result that is refused at once has another fault.
    var hasRenewed = false
    /// There is no result, and the request goes out without one.
    var doesWithout = false

    var isActive: Bool {
        switch stage {
        case .watching, .ready: false
        case .queueing, .talking: true
        }
    }
    var isReady: Bool { if case .ready = stage { true } else { false } }

    var kept: HeldResponse? {
        switch stage {
        case .queueing(.renew(let held), _), .talking(.renew(let held), _): held
        case .watching, .ready, .queueing, .talking: nil
        }
    }

    /// - Parameter refusal: of the result that the request carried.
    func ask(
        _ purpose: Purpose, _ wanted: Wanted, after refusal: CredentialLedger<Value>.Refusal? = nil,
        waited wait: CredentialWait<Value>? = nil,
        _ context: FilterContext
    ) -> Outcome {
        if limit == nil { limit = context.now + wanted.key.hold }
        switch CredentialStep(wanted.key, from: wanted.store, after: refusal, waited: wait, context.time) {
        case .use(let found):
            session = found
            return done(.found(purpose))
        case .wait(let wait):
            stage = .queueing(purpose, wait)
            return .waitFor(wait.ticket, until: min(wait.until, limit ?? .max))
        case .fetch(let fetch):
            let backgroundCall = BackgroundLogin(fetch, wanted.talk())
            return perform(backgroundCall.begin(), purpose, backgroundCall, wanted, context)
        case .failed(let fault): return giveUp(fault.reason, purpose)
        case .full: return giveUp("there is no room for more requests that wait for a login", purpose)
        }
    }

    func called(_ response: HeldResponse, _ wanted: Wanted, _ context: FilterContext) -> Outcome? {
        guard case .talking(let purpose, let backgroundCall) = stage else { return nil }
        return perform(backgroundCall.answered(response, context.seconds), purpose, backgroundCall, wanted, context)
    }

    private func perform(
        _ step: LoginCommand<Value>, _ purpose: Purpose, _ backgroundCall: BackgroundLogin<Talk>, _ wanted: Wanted,
        _ context: FilterContext
    ) -> Outcome {
        switch step {
        case .send(let call, let url):
            stage = .talking(purpose, backgroundCall)
            return .call(call, url: url, detachedCall: backgroundCall.spends ? backgroundCall : nil)
        case .won(let value):
            session = backgroundCall.fetch.win(value, context.time)
            return done(.won(value, purpose))
        case .failed(let fault):
            backgroundCall.fetch.fail(fault, context.time)
            return finish(purpose, after: backgroundCall.fetch, fault.reason, wanted, context)
        }
    }

    /// Handles a failed login: a result that is still valid is used.
    private func finish(
        _ purpose: Purpose, after fetch: CredentialFetch<Value>, _ reason: String, _ wanted: Wanted,
        _ context: FilterContext
    ) -> Outcome {
        if case .send = purpose, let found = wanted.store.change({ $0.valid(wanted.key, context.time) }) {
            session = found
            return done(.kept(reason, purpose))
        }
        return giveUp(reason, purpose)
    }

    private func done(_ outcome: Outcome) -> Outcome {
        stage = .ready
        limit = nil
        return outcome
    }

    private func giveUp(_ reason: String, _ purpose: Purpose) -> Outcome {
        stage = .watching
        limit = nil
        session = nil
        return .lacking(reason, purpose)
    }

    /// Handles a failed call or an expired wait.
    func failed(_ reason: String, _ wanted: Wanted, _ context: FilterContext) -> Outcome? {
        switch stage {
        case .watching, .ready: return nil
        case .queueing(let purpose, _): return giveUp(reason, purpose)
        case .talking(let purpose, let backgroundCall):
            backgroundCall.fetch.fail(LoginFault(reason: reason, isRefusal: false), context.time)
            return finish(purpose, after: backgroundCall.fetch, reason, wanted, context)
        }
    }

    func woke(_ wanted: Wanted, _ context: FilterContext) -> Outcome? {
        if isActive, let limit, context.now >= limit {
            let reason = "the login took longer than hold allows"
            if case .talking(let purpose, let backgroundCall) = stage, backgroundCall.spends {
                backgroundCall.fetch.isLate(context.time)
                return finish(purpose, after: backgroundCall.fetch, reason, wanted, context)
            }
            return failed(reason, wanted, context)
        }
        guard case .queueing(let purpose, let wait) = stage else { return nil }
        return ask(purpose, wanted, waited: wait, context)
    }

    /// Ends the pending operation: the request goes out, or the exchange is over.
    func rest() { stage = .watching }
}
