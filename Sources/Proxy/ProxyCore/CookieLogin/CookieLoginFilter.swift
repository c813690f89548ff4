import Authorization
import Formats
import HTTPCodec
import Interception

/// Adds a login's cookie to requests. It logs in if there is none, and once more if the origin refuses the cookie.
final class CookieLoginFilter: LoginFilter {
    typealias Sharing = SharedLogin<CookieConversation>

    private let login: CookieLogin
    /// The only hosts that may get the cookie and the login's credentials.
    private let hosts: HostGuard
    let sharedLogin = Sharing()
    /// The key of the cookies that the request carries.
    private var key: CookieSessions.Key?
    var words: LoginWords { LoginWords(what: "cookie \(login.cookie)", place: "origin", next: "logs in") }
    var interceptor: String? { login.interceptor }

    init(_ login: CookieLogin, hosts: HostGuard) {
        self.login = login
        self.hosts = hosts
    }

    func say(_ words: String) -> LogEvent { .login(interceptor: login.interceptor, words) }

    func told(of call: ServerCall, url: String) -> LogEvent {
        .loginCall(call.action, interceptor: login.interceptor, number: call.number, url: url)
    }

    private var session: CookieSessions.Kept? { sharedLogin.session }

    // MARK: before the request goes out

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .ready: return prepare(&context) ?? .proceed
        case .leaving: show(in: &head, &context)
        }
        return .proceed
    }

    private func prepare(_ context: inout FilterContext) -> FilterAction? {
        // the client's own login passes: with this cookie it would run as another user
        if isLogin(context.sent) {
            sharedLogin.session = nil
            return nil
        }
        if let reason = hosts.admits(context.sent) ? context.obstacle(login.origins) : BasicLoginFilter.elsewhere {
            sharedLogin.session = nil
            context.note(say(reason))
            return denial(reason)
        }
        if sharedLogin.doesWithout { return denial("there was none to be had") }
        let key = CookieSessions.Key(login, origin: context.sent.originText)
        if sharedLogin.isReady, self.key == key { return withheld(context) }
        if self.key != key { sharedLogin.session = nil }
        self.key = key
        guard let wanted = wanted(context) else {
            sharedLogin.doesWithout = true
            context.note(
                say("the cookie \(login.cookie) goes along, after a login at \(login.place) where there is none"))
            return nil
        }
        return conclude(sharedLogin.ask(.send, wanted, context), &context) ?? withheld(context)
    }

    func denial(_ reason: String) -> FilterAction? {
        guard login.refused == .refuse else { return nil }
        return .refuse(
            ProxyError(
                "http_request_denied", status: 502,
                "interceptor \(login.interceptor): no cookie \(login.cookie): \(reason), and the request is not sent "
                    + "without (refused: refuse)"))
    }

    /// Refuses the request if the cookie exists but its attributes keep it from this request.
    private func withheld(_ context: FilterContext) -> FilterAction? {
        guard login.refused == .refuse, let session else { return nil }
        let selection = session.jar.selection(for: context.sent, now: context.seconds)
        if selection.pairs.contains(where: { $0.name == login.cookie }) { return nil }
        return denial("the cookie \(selection.withheld.first ?? "is over")")
    }

    private func show(in head: inout RequestHead, _ context: inout FilterContext) {
        sharedLogin.rest()
        sharedLogin.isSent = false
        guard let session, hosts.admits(head) else { return }
        let selection = session.jar.selection(for: head, now: context.seconds)
        for reason in selection.withheld {
            context.note(say("the cookie \(reason)"))
        }
        guard !selection.pairs.isEmpty else { return }
        sharedLogin.isSent = true
        var cookies = CookieText(head.fields.values(named: "Cookie").joined(separator: "; "))
        for pair in selection.pairs { cookies.set(pair.name, pair.value) }
        head.fields.set("Cookie", cookies.text)
    }

    func wanted(_ context: FilterContext) -> Sharing.Wanted? {
        guard let key, let store = context.cookies else { return nil }
        return Sharing.Wanted(key: key, store: store) { [login] in CookieConversation(login, origin: key.origin) }
    }

    // MARK: the login

    func told(of jar: CookieJar, _ now: Int) -> String {
        guard let end = jar[login.cookie]?.expires else { return "logged in; the cookie \(login.cookie) tells no end" }
        let lasts = "logged in; the cookie \(login.cookie) lasts \(end - now) s"
        return end - now > login.renewBefore
            ? lasts : "\(lasts), no longer than renew_before: each request logs in anew"
    }

    // MARK: responses

    func mayRefuse(_ response: ResponseHead) -> Bool { response.status == 401 || response.status == 403 }

    /// A 401 refuses the cookie, and so does CouchDB's 403 with the error `credentials_expired`.
    func refuses(_ response: HeldResponse) -> Bool {
        if response.head.status == 401 { return true }
        guard response.head.status == 403 else { return false }
        let answer = EditedBody.json(in: response.body, response.head.fields, limit: Self.largestAnswer)
        return answer?["error"]?.text == "credentials_expired"
    }

    /// Takes a renewed cookie from any response, and removes it before the client. Other cookies, and responses to the client's
    /// own login, pass unchanged.
    func headCame(_ response: inout ResponseHead, _ context: FilterContext) {
        guard sharedLogin.isSent, let key, let session, let store = context.cookies else { return }
        noteTaken(response, context)
        guard response.fields.values(named: "Set-Cookie").contains(where: { SetCookie($0)?.name == login.cookie })
        else {
            return
        }
        var jar = session.jar
        jar.take(response.fields, only: login.cookie, answering: context.sent, now: context.seconds)
        if jar[login.cookie] != session.jar[login.cookie] {
            store.change { $0.renewed(key, generation: session.generation) { $0 = jar } }
        }
        _ = response.fields.removeAll { table, index in
            ASCII.equal(table.name(index), "Set-Cookie") && SetCookie(table.value(index))?.name == login.cookie
        }
    }

    /// The request is the client's own login.
    private func isLogin(_ request: RequestHead) -> Bool {
        let path =
            login.place.utf8.first == 0x2F ? login.place : (try? RequestHead(method: "GET", url: login.place))?.path
        return request.path == path
    }
}
