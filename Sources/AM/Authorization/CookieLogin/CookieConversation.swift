public import HTTPCodec
public import Interception

/// One login for a cookie as a state machine: it takes responses and returns the next step. It does no I/O and reads no clock.
public struct CookieConversation: Sendable {
    public typealias Command = LoginCommand<CookieJar>

    private enum Stage {
        case asked(FormLogin)
        case identified(IdentityLogin)
        case named(ZeroPageLogin)
    }

    private let login: CookieLogin
    private let place: String
    private var stage: Stage?
    /// The head of the last request sent.
    private var asked: RequestHead?

    /// - Parameter origin: scheme, host and port of the request that needs the cookie, as the start of a URL.
    public init(_ login: CookieLogin, origin: String) {
        self.login = login
        place = login.place.utf8.first == 0x2F ? origin + login.place : login.place
    }

    public mutating func begin() -> Command {
        switch login.manner {
        case .form(let fields):
            let steps = FormLogin(place: place, fields: fields, cookie: login.cookie)
            stage = .asked(steps)
            return perform(.call(steps.call))
        case .identity(let url, let key):
            let steps = IdentityLogin(identity: url, key: key, place: place, cookie: login.cookie)
            stage = .identified(steps)
            return perform(.call(steps.first))
        case .fields(let user, let password):
            let steps = ZeroPageLogin(place: place, user: user, password: password, cookie: login.cookie)
            stage = .named(steps)
            return perform(.call(steps.call))
        }
    }

    /// Handles the response to the last request.
    /// - Parameter now: seconds since 1970.
    public mutating func answered(_ head: ResponseHead, body: [UInt8], now: Int) -> Command {
        guard let asked, let stage else { return .failed(.broken("a response came to a login that sent no request")) }
        let step: CookieStep
        switch stage {
        case .asked(let steps): step = steps.answered(head, body, to: asked, now: now)
        case .identified(var steps):
            step = steps.answered(head, body, to: asked, now: now)
            self.stage = .identified(steps)
        case .named(let steps): step = steps.answered(head, body, to: asked, now: now)
        }
        return perform(step)
    }

    private mutating func perform(_ step: CookieStep) -> Command {
        switch step {
        case .call(let draft):
            do throws(HTTPFault) {
                let call = try draft.call()
                asked = call.head
                return .send(call, url: draft.url)
            } catch {
                return .failed(.broken("no request can be made for \(draft.url): \(error.explanation)"))
            }
        case .won(let jar): return .won(jar)
        case .failed(let fault): return .failed(fault)
        }
    }
}

/// The next step of a login.
enum CookieStep {
    case call(CallDraft)
    case won(CookieJar)
    case failed(LoginFault)
}

extension LoginFault {
    /// The fault that a response reports; nil for a success.
    /// - Parameter step: the requested step, as the subject of the sentence.
    init?(_ step: String, _ head: ResponseHead) {
        switch head.status {
        case 200..<300: return nil
        case 400..<500 where head.status != 408 && head.status != 429:
            self.init(reason: "\(step) refused the login with \(head.status)", isRefusal: true)
        default: self.init(reason: "\(step) responded with \(head.status)", isRefusal: false)
        }
    }
}
