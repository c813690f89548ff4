import Authorization
import HTTPCodec
import Interception
import Passwords
import ProxyCore
import Synchronization
import TLSEngine

/// What others do for a connection meanwhile, and how it is told.
extension DriverModel {
    /// Whose certificate the client is being shown.
    var shownName: String {
        switch securing?.name {
        case .host(let name): name
        case .listener: "the listener"
        case nil: "none"
        }
    }

    /// The client's handshake is done.
    func clientIsSecured() {
        guard securing != nil else { return }
        securing = nil
        came("is secured")
        let negotiated = TLSStream.Negotiated(
            version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", isResumed: false, spoken: .http11)
        machine.clientSecured(negotiated, now: now, &out)
        settle()
    }

    func clientIsUnsecured(_ fault: TLSFault, hasSeen: Bool) {
        guard securing != nil else { return }
        securing = nil
        came("is not secured")
        machine.clientUnsecured(fault, hasSeen: hasSeen, now: now, &out)
        settle()
    }

    /// The oldest password that waits was checked.
    func checked(_ verdict: PasswordVerdict) {
        guard !checks.isEmpty else { return }
        checks.removeFirst()
        came("password is checked")
        machine.authenticated(verdict, checkIDs.removeFirst(), now: now, &out)
        settle()
    }

    /// The oldest call of code that waits is made, and comes to an end.
    /// - Returns: how often it completed, beside the first time.
    @discardableResult
    func runs() async -> Int {
        guard !calls.isEmpty else { return 0 }
        let (id, call) = calls.removeFirst()
        let repeats = Atomic(0)
        let answer = await call.answer { repeats.add(1, ordering: .relaxed) }
        came("code is done")
        machine.intercepted(answer, id, now: now, &out)
        settle()
        return repeats.load(ordering: .relaxed)
    }

    /// The turn of the first that waits has come.
    func turnCame() {
        guard !awaited.isEmpty else { return }
        came("turn")
        machine.turnCame(awaited.removeFirst().id, now: now, &out)
        settle()
    }

    /// Somebody has spoken to the first step-up that waits.
    func personSpoke() {
        guard !asked.isEmpty else { return }
        came("person")
        machine.personSpoke(asked.removeFirst().id, now: now, &out)
        settle()
    }

    func flightCame(_ ticket: FlightTicket) {
        guard let id = flying.removeValue(forKey: ticket) else { return }
        came("flight")
        machine.flightCame(id, now: now, &out)
        settle()
    }

    /// So many bytes wait for that side.
    func queues(_ count: Int, for leg: Leg) {
        switch leg {
        case .client:
            came("has \(count) bytes waiting")
            machine.queuedForClient(count, now: now, &out)
        case .origin:
            guard let origin, let id = origin.id else { return }
            trace?.came("has \(count) bytes waiting", from: .origin(origin.number), at: now)
            machine.queuedForOrigin(count, of: id, now: now, &out)
        }
        settle()
    }
}
