public import Authorization

/// Work that all loops share, such as the upgrade of a session: one exchange does it, the others wait. Each loop has a store in
/// front of the shared ledger.
public protocol FlightStore<Value>: AnyObject {
    associatedtype Value: Sendable

    /// - Parameters:
    ///   - material: identifies the work. It may be secret; only its digest is kept.
    ///   - mark: groups work on the same subject; 0 if nothing asks by it.
    ///   - refused: whether a kept value was refused since.
    func ask(_ material: [UInt8], mark: Int, refused: ((Value) -> Bool)?) -> FlightAnswer<Value>
    func look(_ ticket: FlightTicket) -> FlightLook<Value>
    /// - Parameters:
    ///   - due: milliseconds until the value is to be renewed.
    ///   - lasts: milliseconds for which later requests get the value.
    func won(_ ticket: FlightTicket, _ value: Value, due: Int, lasts: Int)
    /// Fails the work for all who wait, and for requests within this many milliseconds.
    func failed(_ ticket: FlightTicket, _ reason: String, for time: Int)
    func leave(_ ticket: FlightTicket)
    /// Others wait for the result of this ticket's holder.
    func isAwaited(_ ticket: FlightTicket) -> Bool
    /// Changes the kept value; nil removes it.
    func change(_ material: [UInt8], _ change: (Value) -> Value?)
    /// The first kept value that the test holds of.
    func first(_ isIt: (Value) -> Bool) -> Value?
    /// Work with this mark is under way.
    func isBusy(_ mark: Int) -> Bool
    /// Drops the kept values that the test holds of.
    func forget(_ isOver: (Value) -> Bool)
}

/// A place in a flight. It is a class so that its release always gives up the place, and no way out leaves others waiting.
final class Flight<Value: Sendable> {
    let ticket: FlightTicket
    private let store: any FlightStore<Value>

    init(_ ticket: FlightTicket, _ store: any FlightStore<Value>) {
        self.ticket = ticket
        self.store = store
    }

    deinit { store.leave(ticket) }

    var isAwaited: Bool { store.isAwaited(ticket) }
    func look() -> FlightLook<Value> { store.look(ticket) }
    func win(_ value: Value, due: Int, lasts: Int) { store.won(ticket, value, due: due, lasts: lasts) }
    func fail(_ reason: String, for time: Int) { store.failed(ticket, reason, for: time) }
}
