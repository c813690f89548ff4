internal import Authorization
public import Interception

/// Keeps a `CredentialLedger` for all loops; each loop has a store. It is used only when a request needs a credential.
public protocol CredentialStore<Value>: AnyObject {
    associatedtype Value: Credential

    func change<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result
    /// Takes a place in the line; its holder is told when to ask again. Nil if the line is full.
    func enter(_ obstacle: CredentialLedger<Value>.Obstacle) -> WaitingTicket?
    func leave(_ ticket: WaitingTicket)
    /// Others wait for this credential.
    func isAwaited(_ key: Value.Key) -> Bool
}

/// The next step of an exchange that needs a credential.
enum CredentialStep<Value: Credential> {
    case use(CredentialLedger<Value>.Kept)
    /// The exchange fetches it for all.
    case fetch(CredentialFetch<Value>)
    /// Another exchange fetches it.
    case wait(CredentialWait<Value>)
    case failed(LoginFault)
    /// There is no room for another fetch, or in the line.
    case full
}

/// An exchange's wait for a fetch of another one, given up with the last reference to its place.
struct CredentialWait<Value: Credential> {
    fileprivate let place: WaitingPlace<Value>
    fileprivate let fetch: Int
    /// The latest time to ask again.
    let until: Int

    var ticket: WaitingTicket { place.ticket }
}

extension CredentialStep {
    /// Gets a credential, or the exchange's part in the fetch of one.
    /// - Parameters:
    ///   - refusal: of a credential that no longer works.
    ///   - wait: the wait that is over.
    init(
        _ key: Value.Key, from store: any CredentialStore<Value>, after refusal: CredentialLedger<Value>.Refusal? = nil,
        waited wait: CredentialWait<Value>? = nil, _ now: LoginTime
    ) {
        var place = wait?.place
        var waited = wait?.fetch
        while true {
            var obstacle: (what: CredentialLedger<Value>.Obstacle, until: Int)?
            let answer = store.change { ledger in
                let answer = ledger.ask(key, after: refusal, waited: waited, now)
                if case .wait = answer { obstacle = ledger.obstacle(key) }
                return answer
            }
            switch answer {
            case .use(let kept): self = .use(kept)
            case .fetch(let number): self = .fetch(CredentialFetch(store, key, number))
            case .failed(let fault): self = .failed(fault)
            case .full: self = .full
            case .wait(let fetch):
                if let place, let obstacle, place.obstacle == obstacle.what {
                    self = .wait(CredentialWait(place: place, fetch: fetch, until: obstacle.until))
                    return
                }
                // the fetch may end before the place is taken: the holder of a place asks once more
                waited = fetch
                place = obstacle.flatMap { WaitingPlace(store, $0.what) }
                if place != nil { continue }
                self = .full
            }
            return
        }
    }
}
