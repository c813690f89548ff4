import Authorization
import HTTPCodec
import Interception

/// What a detour wants done next.
enum DetourOrder {
    /// The response that it looked at goes to the client.
    case deliver(HeldResponse)
    /// A response of an earlier attempt goes to the client after all.
    case giveBack(HeldResponse)
    case call(DetourCall)
    /// `woke` is called when that time has come.
    case wait(until: Int)
    /// The request is sent again, from what the client sent.
    case attempt(RequestHead, body: [UInt8])
}

/// A call to AM: an exchange of its own, with its own Action, through the interceptors. An object, because every exchange has
/// room for one and hardly any has one.
final class DetourCall {
    let call: ServerCall
    /// The only one that it may go to.
    let server: AuthorizationServer
    /// How much of an answer is read.
    let maxResponseBytes: Int
    /// The login that it belongs to.
    let login: LoginAttempt?
    /// Bytes that whoever makes it keeps meanwhile.
    let keptBytes: Int

    init(
        call: ServerCall, server: AuthorizationServer, maxResponseBytes: Int, login: LoginAttempt?, keptBytes: Int
    ) {
        self.call = call
        self.server = server
        self.maxResponseBytes = maxResponseBytes
        self.login = login
        self.keptBytes = keptBytes
    }
}

/// Something that holds an exchange up: it looks at a response before the client has a byte of it, and may call, wait, and
/// have the request sent again. Whatever goes wrong, it has the client get the answer that it would have got.
protocol Detour: AnyObject {
    /// A call or a wait is under way.
    var isActive: Bool { get }
    /// It keeps a response that the client may get yet.
    var keepsResponse: Bool { get }
    /// When the whole of it must be over: no wait goes past this time.
    var limit: Int? { get }
    /// Bytes of bodies that it keeps.
    var keptBytes: Int { get }
    /// How much of a response it would read.
    var maxResponseBytes: Int { get }
    /// Set-Cookie lines for the client, whatever answer it gets.
    var cookieLines: [String] { get }

    /// The request is about to go out, and all of its body is here.
    func edit(_ head: inout RequestHead)

    /// How much of a response with this head has to be held until it is clear what it is; nil where none of it.
    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int?
    /// A response that was held is here whole.
    func consider(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment])
        -> DetourOrder
    /// The answer to its call is here.
    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment])
        -> DetourOrder
    /// Its call, or the request that it had sent again, came to nothing.
    /// - Returns: nil where it has nothing to put in the place of that.
    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder?
    /// Time has passed.
    /// - Returns: nil where that is not for it.
    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder?
    /// The request that it had sent again is being answered.
    func answered()
    /// A response of that status goes to the client.
    func delivers(_ status: Int)
}

/// The exchange as a detour sees it.
struct DetourContext {
    /// As the client sent it.
    let request: RequestHead
    /// As it went out.
    let sent: RequestHead
    let body: [UInt8]
    /// All of the body is in `body`.
    let isWhole: Bool
    /// The request may have reached its origin in this attempt.
    let mayHaveArrived: Bool
    let now: Int
    let logins: (any LoginStore)?
}
