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
        let negotiated = TLSStream.Negotiated(
            version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", isResumed: false, spoken: .http11)
        happens("is secured") { $0.clientSecured(negotiated, now: now, &$1) }
    }

    func clientIsUnsecured(_ fault: TLSFault, hasSeen: Bool) {
        guard securing != nil else { return }
        securing = nil
        happens("is not secured") { $0.clientUnsecured(fault, hasSeen: hasSeen, now: now, &$1) }
    }

    /// The oldest password that waits was checked.
    func checked(_ verdict: PasswordVerdict) {
        guard !checks.isEmpty else { return }
        checks.removeFirst()
        let id = checkIDs.removeFirst()
        happens("password is checked") { $0.happened(.authenticated(verdict), to: id, now: now, &$1) }
    }

    /// The oldest call of code that waits is made, and comes to an end.
    /// - Returns: how often it completed, beside the first time.
    @discardableResult
    func runs() async -> Int {
        guard !calls.isEmpty else { return 0 }
        let (id, call) = calls.removeFirst()
        let repeats = Atomic(0)
        let answer = await call.answer { repeats.add(1, ordering: .relaxed) }
        happens("code is done") { $0.happened(.intercepted(answer), to: id, now: now, &$1) }
        return repeats.load(ordering: .relaxed)
    }

    /// The turn of the first that waits has come.
    func turnCame() { comes("turn") { $0.kind == .limit } }

    /// Somebody has spoken to the first step-up that waits.
    func personSpoke() { comes("person") { $0.kind == .person } }

    func ticketCame(_ ticket: WaitingTicket) { comes("flight") { $0 == ticket } }

    private func comes(_ what: String, _ isIt: (WaitingTicket) -> Bool) {
        guard let index = awaited.firstIndex(where: { isIt($0.ticket) }) else { return }
        let (id, ticket) = awaited.remove(at: index)
        happens(what) { $0.happened(.ticketCame(ticket), to: id, now: now, &$1) }
    }
}
