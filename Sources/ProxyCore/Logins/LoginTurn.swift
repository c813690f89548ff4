import Authorization
import HTTPCodec
import Interception

/// A conversation with a server that logs in. It is a value: it takes responses and returns the next step.
protocol LoginTalk: Sendable {
    associatedtype Gain: LoginGain
    mutating func begin() -> LoginOrder<Gain>
    /// Takes the response to the last call.
    /// - Parameter now: seconds since 1970.
    mutating func answered(_ head: ResponseHead, body: [UInt8], now: Int) -> LoginOrder<Gain>
    /// The last call uses up its credential, even if the response is lost.
    var spends: Bool { get }
}

extension LoginTalk {
    var spends: Bool { false }
}

/// One exchange's way to a login's result: it takes an existing one, waits for another exchange, or logs in for all. The filter
/// decides what the exchange does then.
final class LoginTurn<Talk: LoginTalk> {
    typealias Gain = Talk.Gain

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
        case won(Gain, Purpose)
        /// The login failed for this reason; the existing result is used until it ends.
        case kept(String, Purpose)
        /// There is no result, for this reason.
        case lacking(String, Purpose)
        /// - Parameter heir: gets the response if this exchange is over.
        case call(ServerCall, url: String, heir: (any CallHeir)?)
        case waitFor(FlightTicket, until: Int)
    }

    // indirect: it is read often, and the rare cases are large
    private indirect enum Stage {
        case watching
        /// The result is at hand, and the request has not gone out since.
        case ready
        /// Another exchange logs in.
        case queueing(Purpose, flight: Int, LoginPlace<Gain>)
        case talking(Purpose, LoginErrand<Talk>)
    }

    /// The wanted result and its store.
    struct Wanted {
        let key: Gain.Key
        let store: any SharedLoginStore<Gain>
        let talk: () -> Talk
    }

    private var stage = Stage.watching
    private(set) var limit: Int?
    /// The result that the request carries.
    var session: SharedLogins<Gain>.Session?
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
        case .queueing(.renew(let held), _, _), .talking(.renew(let held), _): held
        case .watching, .ready, .queueing, .talking: nil
        }
    }

    /// - Parameters:
    ///   - refusal: of the result that the request carried.
    ///   - flight: the login that the request waited for.
    func ask(
        _ purpose: Purpose, _ wanted: Wanted, after refusal: SharedLogins<Gain>.Refusal? = nil,
        waited flight: Int? = nil,
        _ context: FilterContext
    ) -> Outcome {
        if limit == nil { limit = context.now + wanted.key.hold }
        var waited = flight
        var place = self.place
        while true {
            let (answer, obstacle) = wanted.store.change {
                ($0.ask(wanted.key, after: refusal, waited: waited, context.time), $0.obstacle(wanted.key))
            }
            switch answer {
            case .use(let found):
                session = found
                return done(.found(purpose))
            case .wait(let flight):
                if let place, place.obstacle == obstacle.what {
                    stage = .queueing(purpose, flight: flight, place)
                    return .waitFor(place.ticket, until: min(obstacle.until, limit ?? .max))
                }
                // the login may end before the place is taken: the holder of a place asks once more
                waited = flight
                place = LoginPlace(wanted.store, obstacle.what)
                if place == nil { return giveUp("there is no room for more requests that wait for a login", purpose) }
            case .logIn(let number):
                let errand = LoginErrand(LoginFlight(wanted.store, wanted.key, number), wanted.talk())
                return perform(errand.begin(), purpose, errand, wanted, context)
            case .failed(let fault): return giveUp(fault.reason, purpose)
            }
        }
    }

    private var place: LoginPlace<Gain>? { if case .queueing(_, _, let place) = stage { place } else { nil } }

    func called(_ response: HeldResponse, _ wanted: Wanted, _ context: FilterContext) -> Outcome? {
        guard case .talking(let purpose, let errand) = stage else { return nil }
        return perform(errand.answered(response, context.seconds), purpose, errand, wanted, context)
    }

    private func perform(
        _ step: LoginOrder<Gain>, _ purpose: Purpose, _ errand: LoginErrand<Talk>, _ wanted: Wanted,
        _ context: FilterContext
    ) -> Outcome {
        switch step {
        case .send(let call, let url):
            stage = .talking(purpose, errand)
            return .call(call, url: url, heir: errand.spends ? errand : nil)
        case .won(let gain):
            session = errand.flight.win(gain)
            return done(.won(gain, purpose))
        case .failed(let fault):
            errand.flight.fail(fault, context.time)
            return settle(purpose, after: errand.flight, fault.reason, wanted, context)
        }
    }

    /// Handles a failed login: a result that is still valid is used.
    private func settle(
        _ purpose: Purpose, after flight: LoginFlight<Gain>, _ reason: String, _ wanted: Wanted,
        _ context: FilterContext
    ) -> Outcome {
        if case .send = purpose,
            case .use(let found) = wanted.store.change({
                $0.ask(wanted.key, after: nil, waited: flight.number, context.time)
            })
        {
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
        case .queueing(let purpose, _, _): return giveUp(reason, purpose)
        case .talking(let purpose, let errand):
            errand.flight.fail(LoginFault(reason: reason, isRefusal: false), context.time)
            return settle(purpose, after: errand.flight, reason, wanted, context)
        }
    }

    func woke(_ wanted: Wanted, _ context: FilterContext) -> Outcome? {
        if isActive, let limit, context.now >= limit {
            let reason = "the login took longer than hold allows"
            if case .talking(let purpose, let errand) = stage, errand.spends {
                errand.flight.isLate(context.time)
                return settle(purpose, after: errand.flight, reason, wanted, context)
            }
            return failed(reason, wanted, context)
        }
        guard case .queueing(let purpose, let flight, _) = stage else { return nil }
        return ask(purpose, wanted, waited: flight, context)
    }

    /// Ends the pending operation: the request goes out, or the exchange is over.
    func rest() { stage = .watching }
}
