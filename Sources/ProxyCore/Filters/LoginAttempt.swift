import Authorization

/// A login that was asked for. It waits until it is permitted; then it is counted as under way until it is judged, or
/// forgotten by whatever ends the exchange: an object, so that no way out can leave it waiting, or counted, for ever.
final class LoginAttempt {
    private enum Stage {
        case asked
        case begun, told
        /// AM was told answers, and goes on when a person has spoken. It may have refused them by that very page.
        case waiting
        case granted, judged
    }

    private let store: any LoginStore
    private let limits: Lockout.Limits
    /// What it is counted by, once it has begun.
    private var key: Lockout.Key?
    /// Its place among those that wait for others to end.
    private var place: FlightTicket?
    private var stage = Stage.asked

    init(_ store: any LoginStore, _ limits: Lockout.Limits) {
        self.store = store
        self.limits = limits
    }

    /// Asks whether it may begin, or go on now that the person has spoken; where it waits already, whether its turn has come.
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

    /// It does not wait any more.
    func leave() {
        if let place { store.leave(place) }
        place = nil
    }

    /// AM is told answers. From here on it may count a failure, whether or not it gets to say so.
    func tell() { stage = .told }

    /// A person is asked: nobody waits for this one's turn meanwhile.
    func wait() {
        switch stage {
        case .begun: judge(.unjudged)
        case .told:
            if let key { store.grant(key, limits) }
            stage = .waiting
        case .asked, .waiting, .granted, .judged: break
        }
    }

    /// Its turn is over, or not come again; it has to ask for one before AM is told more.
    var needsTurn: Bool { stage == .waiting || isOver }

    /// Whatever is done next is another login.
    var isOver: Bool { stage == .judged }

    /// AM reports success. For a transaction that means nothing yet, and without answers it tells nothing about them
    /// (docs/protocol.md#how-it-ends).
    func grant() {
        switch stage {
        case .told: if let key { store.grant(key, limits) }
        case .waiting: break
        case .asked, .begun, .granted, .judged: return judge(.unjudged)
        }
        stage = .granted
    }

    /// A refused upgrade is a 401; how a transaction went only the resource tells.
    func grant(by advice: Advice) {
        grant()
        if !advice.isTransaction { judge(.taken) }
    }

    var isGranted: Bool { stage == .granted }

    func judge(_ verdict: Lockout.Verdict) {
        guard !isOver else { return }
        // a turn that came meanwhile is given back before the login ends
        leave()
        if let key {
            // what AM was not told it cannot have refused
            store.end(
                key, stage == .begun ? .unjudged : verdict, granted: stage == .granted || stage == .waiting, limits)
        }
        stage = .judged
    }

    deinit {
        judge(stage == .told || stage == .waiting ? .refused : .unjudged)
    }
}
