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
    /// A person is asked: `woke` is called when there is a word of it, or when that time has come.
    case ask(TransactionID, until: Int)
    /// `woke` is called when somebody else has come to an end with what both need, or that time has come.
    case waitFor(FlightTicket, until: Int)
    /// The request is sent again, with this in the place of what the client sent.
    case attempt(RequestHead, body: [UInt8])
    /// The request is sent again, as it would be for the first time; this goes to the client where no attempt is left.
    case again(HeldResponse)
    /// The request goes out with this in the place of what the client sent.
    case replace(RequestHead, body: [UInt8])
    /// What was to be done before the request goes out is done.
    case proceed
    /// The client is answered here.
    case refuse(ProxyError)

    /// The client gets the response that was looked at.
    var delivers: Bool { if case .deliver = self { true } else { false } }
}

/// A call of Usher's own: an exchange with its own Action, through the interceptors. An object, because every exchange has
/// room for one and hardly any has one.
final class DetourCall {
    enum Purpose {
        /// - Parameter login: the one that the call belongs to.
        case stepUp(login: LoginAttempt?)
        /// A login of Usher's own, for requests that carry no session.
        case session(login: LoginAttempt?)
        /// No exchange waits for it.
        case errand(Errand.Purpose)
        /// The interceptor whose login it is has no part in it.
        case login(interceptor: String)
        /// - Parameter resource: the first that the token is for.
        case token(resource: String)
        /// A device tells AM something, or has to know whose session it is.
        case device
        /// AM is asked whether a request may go out.
        case question(number: Int)
    }

    let call: ServerCall
    /// Where alone it may go.
    let bound: CallBound
    let purpose: Purpose
    /// How much of an answer is read.
    let maxResponseBytes: Int
    /// Bytes that whoever makes it keeps meanwhile.
    let keptBytes: Int
    /// Who hears the answer where whoever made the call is gone; nil where the call ends then.
    let heir: (any CallHeir)?
    /// Is told what came of a call that no exchange waits for: the answer, or why there is none.
    let report: Report?

    typealias Report = (_ answer: HeldResponse?, _ reason: String?) -> Void

    init(
        call: ServerCall, bound: CallBound, purpose: Purpose, maxResponseBytes: Int, keptBytes: Int,
        heir: (any CallHeir)? = nil, report: Report? = nil
    ) {
        self.call = call
        self.bound = bound
        self.purpose = purpose
        self.maxResponseBytes = maxResponseBytes
        self.keptBytes = keptBytes
        self.heir = heir
        self.report = report
    }
}

extension DetourCall {
    /// Whose login it is.
    var issuer: String? { if case .login(let interceptor) = purpose { interceptor } else { nil } }
    var stepUpLogin: LoginAttempt? {
        switch purpose {
        case .stepUp(let login), .session(let login): login
        case .login, .errand, .token, .device, .question: nil
        }
    }

    /// What is told when it goes out.
    func moment(url: String) -> ExchangeMoment {
        switch purpose {
        case .stepUp: .call(call.action, number: call.number, url: url)
        case .token(let resource): .tokenCall(call.action, resource: resource, number: call.number, url: url)
        case .session: .sessionCall(call.action, number: call.number, url: url)
        case .errand(.logOut): .session("\(call.action.rawValue): a session of Usher's own is ended at \(url)")
        case .errand(.revocation(let resource)):
            .tokenCall(call.action, resource: resource, number: call.number, url: url)
        case .device: .deviceCall(call.action, number: call.number, url: url)
        case .login(let interceptor): .loginCall(call.action, interceptor: interceptor, number: call.number, url: url)
        case .question(let number): .question(call.action, number: number, url: url)
        }
    }
}

/// Something that holds an exchange up: it looks at a response before the client has a byte of it, and may call, wait, and
/// have the request sent again. Whatever goes wrong, it has the client get the answer that it would have got.
protocol Detour: AnyObject {
    /// A call or a wait is under way.
    var isActive: Bool { get }
    /// What is under way is given up where the client closes its sending side, though it may still listen.
    var endsWithClient: Bool { get }
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
    /// By what AM is asked before the request goes out, whatever became of it; nil where it is not.
    var enforcing: AuthorizationPolicy? { get }
    /// What has a session of that AM for a request that carries none.
    func provider(of server: AuthorizationServer) -> ProvidedSession?

    /// The request is about to go out, as `sent` of the context.
    /// - Returns: what has to be done before; nil where nothing has.
    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder?
    /// The request goes out.
    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment])

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
    /// The request is being answered, with this head, which may be changed.
    func answered(_ response: inout ResponseHead, _ context: DetourContext)
    /// A response with this head could not be held whole, and goes to the client.
    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment])
    /// A response of that status goes to the client.
    func delivers(_ status: Int)
    /// It waits for this ticket's turn.
    func awaits(_ ticket: FlightTicket) -> Bool
    /// Another detour has decided: what is under way here is nobody's any more.
    func abandon()
    /// The request has gone out, and its exchange ends before an answer came.
    func cutShort()
}

extension Detour {
    func cutShort() {}
    func awaits(_ ticket: FlightTicket) -> Bool { false }
}

extension Detour {
    var enforcing: AuthorizationPolicy? { nil }
    func provider(of server: AuthorizationServer) -> ProvidedSession? { nil }
}
