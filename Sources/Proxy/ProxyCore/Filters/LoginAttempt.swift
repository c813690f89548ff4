import Authorization
import Interception

/// One login: it waits for permission, then counts as under way until it is judged or its exchange ends. It is a class so that
/// its end always gives up the place, whatever ends the exchange.
final class LoginAttempt {
    private enum Stage {
        case asked
        case begun, told
        /// AM has the answers, and continues after a person has answered. Its page may already be a refusal.
        case waiting
        case granted, judged
    }

    private let store: any LoginStore
    private let limits: Lockout.Limits
    /// The key under which a begun login is counted.
    private var key: Lockout.Key?
    /// Its place in the queue for other logins to end.
    private var place: WaitingTicket?
    private var stage = Stage.asked

    init(_ store: any LoginStore, _ limits: Lockout.Limits) {
        self.store = store
        self.limits = limits
    }

    /// Asks for permission to begin, or to continue after a person's answer. A waiting login asks whether its turn has come.
    func ask(_ login: Login) -> LoginPermission {
        let permission =
            if let place { store.look(place) } else if let key { store.begin(again: key, limits) } else {
                store.begin(login, limits)
            }
        place = nil
        switch permission {
        case .go(let key):
            stage = self.key == nil ? .begun : .told
            self.key = key
        case .wait(let ticket): place = ticket
        case .held, .full: break
        }
        return permission
    }

    /// Leaves the queue.
    func leave() {
        if let place { store.leave(place) }
        place = nil
    }

    /// Notes that AM gets answers. From now on AM may count a failure, even if its response never comes.
    func tell() { stage = .told }

    /// A person is asked: other logins need not wait for this one meanwhile.
    func wait() {
        switch stage {
        case .begun: judge(.unjudged)
        case .told:
            if let key { store.grant(key, limits) }
            stage = .waiting
        case .asked, .waiting, .granted, .judged: break
        }
    }

    /// The login has no turn; it must ask for one before AM gets more answers.
    var needsTurn: Bool { stage == .waiting || isOver }

    /// The login is over; another step begins a new one.
    var isOver: Bool { stage == .judged }

    /// AM reports success. For a transaction that decides nothing yet, and without answers it says nothing about them
    /// (docs/protocol.md#how-it-ends).
    func grant() {
        switch stage {
        case .told: if let key { store.grant(key, limits) }
        case .waiting: break
        case .asked, .begun, .granted, .judged: return judge(.unjudged)
        }
        stage = .granted
    }

    /// Judges an upgrade as taken, as AM answers a refused one with 401. The resource's response judges a transaction.
    func grant(by advice: Advice) {
        grant()
        if !advice.isTransaction { judge(.taken) }
    }

    var isGranted: Bool { stage == .granted }

    func judge(_ verdict: Lockout.Verdict) {
        guard !isOver else { return }
        // gives back a turn that came meanwhile, before the login ends
        leave()
        if let key {
            // AM cannot have refused answers that it did not get
            store.end(
                key, stage == .begun ? .unjudged : verdict, granted: stage == .granted || stage == .waiting, limits)
        }
        stage = .judged
    }

    deinit {
        judge(stage == .told || stage == .waiting ? .refused : .unjudged)
    }
}
