import Authorization
import HTTPCodec

/// A login's conversation. An object: where its call has gone out and takes effect without an answer being heard, it outlives
/// the exchange that made it, and what it wins is there for the others.
final class LoginErrand<Talk: LoginTalk> {
    let flight: LoginFlight<Talk.Gain>
    private var talk: Talk

    init(_ flight: LoginFlight<Talk.Gain>, _ talk: Talk) {
        self.flight = flight
        self.talk = talk
    }

    /// What was asked last uses up what it was asked with.
    var spends: Bool { talk.spends }

    func begin() -> LoginOrder<Talk.Gain> { talk.begin() }

    func answered(_ response: HeldResponse, _ now: Int) -> LoginOrder<Talk.Gain> {
        talk.answered(response.head, body: response.body, now: now)
    }
}

extension LoginErrand: CallHeir {
    /// What it wins is for whoever comes later as well, after a restart, too.
    var isAwaited: Bool { true }

    func inherit(until time: Int) { flight.goesOn(until: time) }

    func heard(_ response: HeldResponse, _ now: LoginTime) {
        switch answered(response, now.seconds) {
        case .won(let gain): flight.win(gain)
        case .failed(let fault): flight.fail(fault, now)
        // nobody is here to make another call
        case .send: break
        }
    }
}

/// What a call comes to where whoever made it is gone.
protocol CallHeir: AnyObject {
    /// The answer is of use to somebody even where this process takes no more requests.
    var isAwaited: Bool { get }
    /// The call goes on without its exchange, up to that time.
    func inherit(until time: Int)
    func heard(_ response: HeldResponse, _ now: LoginTime)
}
