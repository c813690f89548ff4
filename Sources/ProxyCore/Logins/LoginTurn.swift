import Authorization
import HTTPCodec
import Interception

/// A conversation that wins something: a value that is given answers and says what to do next.
protocol LoginTalk: Sendable {
    associatedtype Gain: LoginGain
    mutating func begin() -> LoginOrder<Gain>
    /// The answer to what was sent last.
    /// - Parameter now: seconds since 1970.
    mutating func answered(_ head: ResponseHead, body: [UInt8], now: Int) -> LoginOrder<Gain>
    /// What was asked last uses up what it was asked with, whether anybody hears the answer or not.
    var spends: Bool { get }
}

extension LoginTalk {
    var spends: Bool { false }
}

/// How one exchange comes to what a login wins: it takes what is there, waits for whoever logs in, or does so itself, one for
/// all. What becomes of the exchange then is for the filter to say.
final class LoginTurn<Talk: LoginTalk> {
    typealias Gain = Talk.Gain

    /// What is done once it is there.
    enum Purpose {
        /// The request goes out.
        case send
        /// It goes out again; the client gets this where nothing could be had.
        case renew(HeldResponse)
    }

    enum Outcome {
        /// It was there, or somebody else has won it.
        case found(Purpose)
        case won(Gain, Purpose)
        /// The login came to nothing, for this reason; what there was is good until its end.
        case kept(String, Purpose)
        /// There is none to be had, for this reason.
        case lacking(String, Purpose)
        /// - Parameter heir: who hears the answer where this exchange is over.
        case call(ServerCall, url: String, heir: (any CallHeir)?)
        case waitFor(FlightTicket, until: Int)
    }

    // indirect: it is asked often, and the rare cases hold much
    private indirect enum Stage {
        case watching
        /// What was asked for is at hand, and the request has not gone out since.
        case ready
        /// Somebody else logs in.
        case queueing(Purpose, flight: Int, LoginPlace<Gain>)
        case talking(Purpose, LoginErrand<Talk>)
    }

    /// What is asked for, and who keeps it.
    struct Wanted {
        let key: Gain.Key
        let store: any SharedLoginStore<Gain>
        let talk: () -> Talk
    }

    private var stage = Stage.watching
    private(set) var limit: Int?
    /// What goes out with the request.
    var session: SharedLogins<Gain>.Session?
    /// It went along with the attempt under way.
    var isSent = false
    /// An exchange has it renewed once, not more: what is refused as soon as it was won is refused for another reason.
    var hasRenewed = false
    /// There is none to be had, and the request goes out without.
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
    ///   - refusal: of what the request went out with.
    ///   - flight: the login that was waited for.
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
                // what is waited for may be over before there is a place: whoever has one asks once more
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

    /// A login came to nothing: what is still good goes along all the same.
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

    /// What is under way came to nothing.
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

    /// The request goes out, or what is under way is nobody's any more.
    func rest() { stage = .watching }
}
