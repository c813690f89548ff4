import EventLoop
import Interception
internal import Passwords
import ProxyCore

/// What an exchange waited for that is neither its client nor its origin.
extension Connection {
    /// A password was checked that took its time.
    func authenticated(_ verdict: PasswordVerdict, _ id: ExchangeID) {
        guard !isClosed else { return }
        machine.authenticated(verdict, id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Code of others has worked on a message.
    func intercepted(_ answer: SwiftAnswer, _ id: ExchangeID) {
        guard !isClosed else { return }
        machine.intercepted(answer, id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// The turn of a request that waits at a limit has come.
    func turnCame(_ id: ExchangeID) {
        guard !isClosed else { return }
        machine.turnCame(id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// A person has spoken to a step-up.
    func personSpoke(_ id: ExchangeID) {
        guard !isClosed else { return }
        machine.personSpoke(id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// What a request waits for that another one makes has come to something.
    func flightCame(_ id: ExchangeID) {
        guard !isClosed else { return }
        machine.flightCame(id, now: worker.loop.now, &worker.out)
        settle()
    }
}
