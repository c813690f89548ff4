public import Interception
public import Passwords

/// Executes the commands of one client's connection: with a loop's sockets, a script, or a test's arrays. It makes no protocol
/// decisions and sets no order: `execute` calls it step by step.
public protocol CommandBackend: AnyObject {
    associatedtype Stream: OriginWriter

    var machine: ClientConnection { get set }
    var out: CommandBuffer { get set }
    var interpreter: CommandInterpreter { get set }
    /// Bytes for one stream of an origin, until they are sent.
    var wire: [UInt8] { get set }
    /// Milliseconds of a monotonic clock.
    var now: Int { get }

    // MARK: the client

    /// Sends the command buffer's bytes to the client.
    /// - Returns: the number of bytes now queued for the client; nil when it is reported later or not at all.
    func sendToClient() -> Int?
    /// - Returns: true when nothing is queued for the client.
    func finishClient() -> Bool
    func closeClient(reset: Bool)

    // MARK: origins

    func lease(_ origin: Origin, _ scope: LeaseScope, _ version: LeaseVersion, for id: ExchangeID) -> LeaseOutcome
    /// - Returns: true when the destination is known to be reachable; otherwise the result comes later.
    func reach(_ origin: Origin, for id: ExchangeID) -> Bool
    /// The exchange's stream at an origin; nil when there is none yet.
    func stream(of id: ExchangeID) -> Stream?
    /// Sends the bytes in `wire`.
    /// - Returns: the number of bytes now queued for the origin; nil when it is reported later or not at all.
    func send(by stream: Stream, of id: ExchangeID) -> Int?
    /// - Returns: false when the exchange had no stream.
    func release(_ id: ExchangeID, reusable: Bool) -> Bool

    // MARK: asynchronous work

    /// - Returns: the verdict if it is known at once; otherwise it comes later.
    func check(_ check: PasswordCheck, for id: ExchangeID) -> PasswordVerdict?
    /// - Returns: the result if it is known at once; otherwise it comes later.
    func run(_ call: SwiftCall, for id: ExchangeID) -> SwiftAnswer?

    /// Executes any other order; no result is reported now.
    func perform(_ command: DriverCommand)
}

/// The immediate outcome of a lease.
public enum LeaseOutcome {
    /// - sendsRaw: body bytes may be passed on to the origin as they are.
    case leased(reused: Bool, sendsRaw: Bool)
    case failed(LeaseFailure)
    /// The outcome comes later.
    case later
}
