public import Authorization

/// What is done once for all loops: one for each loop, in front of what all of them share. Asked only where a session is
/// upgraded or won.
public protocol FlightStore<Value>: AnyObject {
    associatedtype Value: Sendable

    /// - Parameters:
    ///   - material: what tells it from others. It may be secret: a digest of it is all that is kept.
    ///   - mark: tells what it is about, whatever the material is; 0 where nobody asks for that.
    ///   - refused: tells a value that was found good no more.
    func ask(_ material: [UInt8], mark: Int, refused: ((Value) -> Bool)?) -> FlightAnswer<Value>
    func look(_ ticket: FlightTicket) -> FlightLook<Value>
    /// - Parameters:
    ///   - due: in how many milliseconds it is to be renewed.
    ///   - lasts: for how many those who come later have it.
    func won(_ ticket: FlightTicket, _ value: Value, due: Int, lasts: Int)
    /// It came to nothing for all who wait, and for whoever comes within so many milliseconds.
    func failed(_ ticket: FlightTicket, _ reason: String, for time: Int)
    func leave(_ ticket: FlightTicket)
    /// Somebody waits for what this one makes.
    func isAwaited(_ ticket: FlightTicket) -> Bool
    /// Changes what is kept; nil for nothing from then on.
    func change(_ material: [UInt8], _ change: (Value) -> Value?)
    /// What is kept that this holds of.
    func first(_ isIt: (Value) -> Bool) -> Value?
    /// Something is being made that was marked so.
    func isBusy(_ mark: Int) -> Bool
    /// What that holds of is kept no more.
    func forget(_ isOver: (Value) -> Bool)
}

/// A place in a flight, given up with the last reference, however that goes: an object, so that no way out can leave others
/// waiting.
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
