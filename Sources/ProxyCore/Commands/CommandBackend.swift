import Interception
import Passwords

/// What stands behind the commands of one client's connection: a loop's sockets, a script, or a test's arrays. It decides nothing
/// that the connection is about, nor when its turn is: `execute` has it do one thing after another.
protocol CommandBackend: AnyObject {
    associatedtype Stream: OriginWriter

    var machine: ClientConnection { get set }
    var out: Outbox { get set }
    var interpreter: CommandInterpreter { get set }
    /// What is written for one stream of an origin's, until it is sent.
    var wire: [UInt8] { get set }
    /// Milliseconds of a monotonic clock.
    var now: Int { get }

    // MARK: the client

    /// Sends what the outbox has for the client.
    /// - Returns: how many bytes wait for it by now; nil where that is not told.
    func sendToClient() -> Int?
    /// - Returns: true where nothing waits for it.
    func finishClient() -> Bool
    func closeClient(reset: Bool)

    // MARK: origins

    func lease(_ origin: Origin, _ scope: LeaseScope, _ version: LeaseVersion, for id: ExchangeID) -> LeaseOutcome
    /// - Returns: true where somebody is known to be there; else it is told later.
    func reach(_ origin: Origin, for id: ExchangeID) -> Bool
    /// What the exchange has of an origin; nil where that is nothing, or not made yet.
    func stream(of id: ExchangeID) -> Stream?
    /// Sends what stands in `wire`.
    /// - Returns: how many bytes wait for the origin by now; nil where that is not told.
    func send(by stream: Stream, of id: ExchangeID) -> Int?
    /// Sends no more by a connection that the exchange has for itself.
    func finish(_ stream: Stream)
    /// - Returns: false where the exchange had nothing.
    func release(_ id: ExchangeID, reusable: Bool) -> Bool

    // MARK: what takes its time

    /// - Returns: the outcome where there is one at once; else it is told later.
    func check(_ check: PasswordCheck, for id: ExchangeID) -> PasswordVerdict?
    /// - Returns: the outcome where there is one at once; else it is told later.
    func run(_ call: SwiftCall, for id: ExchangeID) -> SwiftAnswer?

    /// Does whatever else is ordered: of that the connection is told nothing now.
    func perform(_ order: Order)
}

/// What comes of a lease at once.
enum LeaseOutcome {
    /// - sendsRaw: body bytes may be passed on to the origin as they are.
    case leased(reused: Bool, sendsRaw: Bool)
    case failed(LeaseFailure)
    /// It is told later.
    case later
}
