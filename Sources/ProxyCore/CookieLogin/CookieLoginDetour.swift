import Authorization
import Formats
import HTTPCodec
import Interception

/// Logs in for a cookie where none is at hand, has it sent along, and logs in once more where the origin will have it no more.
final class CookieLoginDetour: LoginDetour {
    typealias Turn = LoginTurn<CookieConversation>

    private let login: CookieLogin
    /// Who alone may have the cookie, and whatever wins it.
    private let hosts: HostGuard
    let turn = Turn()
    /// Whose cookies go out with the request.
    private var key: CookieSessions.Key?
    /// An exchange has one cookie renewed, not more: one that is refused as soon as it was won is refused for another reason.
    private var hasRenewed = false
    /// The cookies went along with the attempt under way.
    private var isSent = false
    /// There is no cookie to be had, and the request goes out without.
    private var doesWithout = false

    /// More of an answer than this is no refusal of a cookie.
    private static let largestRefusal = 64 << 10
    private static let largestAnswer = 256 << 10

    init(_ login: CookieLogin, hosts: HostGuard) {
        self.login = login
        self.hosts = hosts
    }

    var maxResponseBytes: Int { Self.largestRefusal }

    private var session: CookieSessions.Session? { turn.session }

    // MARK: before the request goes out

    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        // the client's own login is its own: with this cookie it would be another's, and be tried twice
        if isLogin(context.sent) {
            turn.session = nil
            return nil
        }
        guard hosts.admits(context.sent) else {
            turn.session = nil
            notes.append(.login(interceptor: login.interceptor, BasicLoginDetour.elsewhere))
            return denial(BasicLoginDetour.elsewhere)
        }
        if doesWithout { return denial("there was none to be had") }
        let key = CookieSessions.Key(login, origin: context.sent.originText)
        if turn.isReady, self.key == key { return withheld(context) }
        if self.key != key { turn.session = nil }
        self.key = key
        return ask(.send, context, &notes) ?? withheld(context)
    }

    private func refusal(_ context: DetourContext) -> CookieSessions.Refusal? {
        session.map { .init(generation: $0.generation, path: context.sent.path) }
    }

    /// The answer to a request that must not go out without the cookie; nil where it may.
    private func denial(_ reason: String) -> DetourOrder? {
        guard login.refused == .refuse else { return nil }
        return .refuse(
            ProxyError(
                "http_request_denied", status: 502,
                "interceptor \(login.interceptor): no cookie \(login.cookie): \(reason), and the request is not sent "
                    + "without (refused: refuse)"))
    }

    /// The cookie is here, and may not go along.
    private func withheld(_ context: DetourContext) -> DetourOrder? {
        guard login.refused == .refuse, let session else { return nil }
        let selection = session.jar.selection(for: context.sent, now: context.seconds)
        if selection.pairs.contains(where: { $0.name == login.cookie }) { return nil }
        return denial("the cookie \(selection.withheld.first ?? "is over")")
    }

    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        turn.rest()
        isSent = false
        guard let session, hosts.admits(head) else { return }
        let selection = session.jar.selection(for: head, now: context.seconds)
        for reason in selection.withheld {
            notes.append(.login(interceptor: login.interceptor, "the cookie \(reason)"))
        }
        guard !selection.pairs.isEmpty else { return }
        isSent = true
        var cookies = CookieText(head.fields.values(named: "Cookie").joined(separator: "; "))
        for pair in selection.pairs { cookies.set(pair.name, pair.value) }
        head.fields.set("Cookie", cookies.text)
    }

    func wanted(_ context: DetourContext) -> Turn.Wanted? {
        guard let key, let store = context.cookies else { return nil }
        return Turn.Wanted(key: key, store: store) { [login] in CookieConversation(login, origin: key.origin) }
    }

    /// - Returns: nil where the request may go out.
    private func ask(
        _ purpose: Turn.Purpose, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder? {
        guard let wanted = wanted(context) else {
            doesWithout = true
            notes.append(
                .login(
                    interceptor: login.interceptor,
                    "the cookie \(login.cookie) goes along, after a login at \(login.place) where there is none"))
            return nil
        }
        var refusal: CookieSessions.Refusal?
        if case .renew = purpose { refusal = self.refusal(context) }
        return conclude(turn.ask(purpose, wanted, after: refusal, context), context, &notes)
    }

    func conclude(
        _ outcome: Turn.Outcome, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder? {
        switch outcome {
        case .found(let purpose): return done(purpose)
        case .won(let jar, let purpose):
            notes.append(.login(interceptor: login.interceptor, words(jar, context.seconds)))
            return done(purpose)
        case .kept(let reason, let purpose):
            notes.append(
                .login(interceptor: login.interceptor, "\(reason); the cookie \(login.cookie) goes along until its end")
            )
            return done(purpose)
        case .lacking(let reason, let purpose): return giveUp(reason, purpose, &notes)
        case .wait(let time): return .wait(until: time)
        case .call(let call, let url):
            return .call(
                DetourCall(
                    call: call, bound: .url(url), purpose: .login(interceptor: login.interceptor),
                    maxResponseBytes: Self.largestAnswer, keptBytes: context.body.count + keptBytes))
        }
    }

    /// There is no cookie to be had.
    private func giveUp(_ reason: String, _ purpose: Turn.Purpose, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        doesWithout = true
        let words = "no cookie \(login.cookie): \(reason)"
        if case .renew(let held) = purpose {
            notes.append(.login(interceptor: login.interceptor, "\(words); the origin's answer was delivered"))
            return .giveBack(held)
        }
        if let denial = denial(reason) { return denial }
        notes.append(.login(interceptor: login.interceptor, "\(words); the request goes out without"))
        return nil
    }

    // MARK: the login

    private func words(_ jar: CookieJar, _ now: Int) -> String {
        guard let end = jar[login.cookie]?.expires else { return "logged in; the cookie \(login.cookie) tells no end" }
        let lasts = "logged in; the cookie \(login.cookie) lasts \(end - now) s"
        return end - now > login.renewBefore
            ? lasts : "\(lasts), no longer than renew_before: each request logs in anew"
    }

    // MARK: answers

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        guard isSent, !hasRenewed, !isActive else { return nil }
        return response.status == 401 || response.status == 403 ? Self.largestRefusal : nil
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        guard isSent, !hasRenewed, Self.refusesCookie(response) else { return .deliver(response) }
        hasRenewed = true
        notes.append(
            .login(
                interceptor: login.interceptor,
                "the origin refuses the cookie \(login.cookie) (\(response.head.status))"))
        guard context.isWhole else {
            dropSession(context)
            notes.append(
                .login(
                    interceptor: login.interceptor,
                    "the request's body was not kept, so it is not sent again; the next request logs in"))
            return .deliver(response)
        }
        return ask(.renew(response), context, &notes) ?? .deliver(response)
    }

    /// Has the next who asks log in.
    private func dropSession(_ context: DetourContext) {
        guard let key, let store = context.cookies, let session else { return }
        store.change { $0.drop(key, generation: session.generation) }
    }

    /// 401 says so, and CouchDB by a 403 whose body does.
    private static func refusesCookie(_ response: HeldResponse) -> Bool {
        if response.head.status == 401 { return true }
        guard response.head.status == 403 else { return false }
        let answer = EditedBody.json(in: response.body, response.head.fields, limit: largestAnswer)
        return answer?["error"]?.text == "credentials_expired"
    }

    /// An ordinary answer may set the cookie anew. Whose it is does not go on to the client; what others set, and what the
    /// client's own login does, are the client's affair: who else uses this login has no part in them.
    func answered(_ response: inout ResponseHead, _ context: DetourContext) {
        guard isSent, let key, let session, let store = context.cookies else { return }
        if hasRenewed, response.status == 401, let refusal = refusal(context) {
            store.change { $0.fruitless(key, refusal, context.time) }
        }
        guard response.fields.values(named: "Set-Cookie").contains(where: { SetCookie($0)?.name == login.cookie })
        else {
            return
        }
        var jar = session.jar
        jar.take(response.fields, only: login.cookie, answering: context.sent, now: context.seconds)
        if jar[login.cookie] != session.jar[login.cookie] {
            store.change { $0.renewed(jar, key, generation: session.generation) }
        }
        _ = response.fields.removeAll { table, index in
            ASCII.equal(table.name(index), "Set-Cookie") && SetCookie(table.value(index))?.name == login.cookie
        }
    }

    /// The client logs in itself.
    private func isLogin(_ request: RequestHead) -> Bool {
        let path =
            login.place.utf8.first == 0x2F ? login.place : (try? RequestHead(method: "GET", url: login.place))?.path
        return request.path == path
    }

    /// The next request logs in: this one's answer is larger than is kept, and its client has to be content with it.
    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        guard isSent, response.status == 401 else { return }
        dropSession(context)
        notes.append(
            .login(
                interceptor: login.interceptor,
                "the origin refuses the cookie \(login.cookie) by an answer that is larger than is kept; the next request logs in"
            ))
    }
}
