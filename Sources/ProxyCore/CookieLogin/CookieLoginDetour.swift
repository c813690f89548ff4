import Authorization
import Formats
import HTTPCodec
import Interception

/// Logs in for a cookie where none is at hand, has it sent along, and logs in once more where the origin will have it no more.
final class CookieLoginDetour: Detour {
    /// What is done once there is a cookie.
    private enum Purpose {
        /// The request goes out.
        case send
        /// It goes out again; the client gets this where no cookie could be had.
        case renew(HeldResponse)
    }

    private enum Stage {
        case watching
        /// What was asked for is at hand, and the request has not gone out since.
        case ready
        /// Somebody else logs in.
        case queueing(Purpose, flight: Int)
        case talking(Purpose, CookieFlight, CookieConversation)
    }

    private let login: CookieLogin
    /// Who alone may have the cookie, and whatever wins it.
    private let hosts: HostGuard
    private var stage = Stage.watching
    private(set) var limit: Int?
    /// What goes out with the request, and whose it is.
    private var session: CookieSessions.Session?
    private var key: CookieSessions.Key?
    /// An exchange has one cookie renewed, not more: one that is refused as soon as it was won is refused for another reason.
    private var hasRenewed = false
    /// The cookies went along with the attempt under way.
    private var isSent = false
    /// There is no cookie to be had, and the request goes out without.
    private var doesWithout = false

    /// Milliseconds after which one that waits for another's login looks again: many may wait.
    private var interval = 5
    private static let longestInterval = 50
    /// More of an answer than this is no refusal of a cookie.
    private static let largestRefusal = 64 << 10
    private static let largestAnswer = 256 << 10

    init(_ login: CookieLogin, hosts: HostGuard) {
        self.login = login
        self.hosts = hosts
    }

    /// Others may wait for the same login.
    var endsWithClient: Bool { false }

    var isActive: Bool {
        switch stage {
        case .watching, .ready: false
        case .queueing, .talking: true
        }
    }
    var keepsResponse: Bool { kept != nil }
    var keptBytes: Int { kept?.body.count ?? 0 }
    var maxResponseBytes: Int { Self.largestRefusal }
    var cookieLines: [String] { [] }

    private var kept: HeldResponse? {
        switch stage {
        case .queueing(.renew(let held), _), .talking(.renew(let held), _, _): held
        case .watching, .ready, .queueing, .talking: nil
        }
    }

    // MARK: before the request goes out

    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        // the client's own login is its own: with this cookie it would be another's, and be tried twice
        if isLogin(context.sent) {
            session = nil
            return nil
        }
        guard hosts.admits(context.sent) else {
            session = nil
            notes.append(.login(interceptor: login.interceptor, BasicLoginDetour.elsewhere))
            return denial(BasicLoginDetour.elsewhere)
        }
        if doesWithout { return denial("there was none to be had") }
        let key = CookieSessions.Key(login, origin: context.sent.originText)
        if case .ready = stage, self.key == key { return withheld(context) }
        if self.key != key { session = nil }
        self.key = key
        return ask(.send, after: nil, context, &notes) ?? withheld(context)
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
        stage = .watching
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

    /// - Parameter flight: the login that was waited for.
    /// - Returns: nil where the request may go out.
    private func ask(
        _ purpose: Purpose, after flight: Int?, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder? {
        guard let key else { return nil }
        guard let store = context.cookies else {
            doesWithout = true
            notes.append(
                .login(
                    interceptor: login.interceptor,
                    "the cookie \(login.cookie) goes along, after a login at \(login.place) where there is none"))
            return nil
        }
        var refusal: CookieSessions.Refusal?
        if case .renew = purpose { refusal = self.refusal(context) }
        if limit == nil { limit = context.now + login.hold }
        switch store.change({ $0.ask(key, after: refusal, waited: flight, context.time) }) {
        case .use(let found):
            session = found
            return done(purpose)
        case .wait(let flight):
            stage = .queueing(purpose, flight: flight)
            defer { interval = min(interval * 2, Self.longestInterval) }
            return .wait(until: min(context.now + interval, limit ?? .max))
        case .logIn(let number):
            var conversation = CookieConversation(login, origin: key.origin)
            let order = conversation.begin()
            return perform(order, purpose, CookieFlight(store, key, number), conversation, context, &notes)
        case .failed(let fault):
            return giveUp(fault.reason, purpose, &notes)
        }
    }

    private func done(_ purpose: Purpose) -> DetourOrder? {
        stage = .ready
        limit = nil
        switch purpose {
        case .send: return nil
        case .renew(let held): return .again(held)
        }
    }

    /// There is no cookie to be had.
    private func giveUp(_ reason: String, _ purpose: Purpose, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        stage = .watching
        limit = nil
        session = nil
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

    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        guard case .talking(let purpose, let flight, var conversation) = stage else { return .deliver(response) }
        let order = conversation.answered(response.head, body: response.body, now: context.seconds)
        return perform(order, purpose, flight, conversation, context, &notes) ?? .proceed
    }

    private func perform(
        _ order: CookieConversation.Order, _ purpose: Purpose, _ flight: CookieFlight,
        _ conversation: CookieConversation, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder? {
        switch order {
        case .send(let call, let url):
            stage = .talking(purpose, flight, conversation)
            return .call(
                DetourCall(
                    call: call, bound: .url(url), purpose: .login(interceptor: login.interceptor),
                    maxResponseBytes: Self.largestAnswer, keptBytes: context.body.count + (kept?.body.count ?? 0)))
        case .won(let jar):
            session = flight.win(jar)
            notes.append(.login(interceptor: login.interceptor, words(jar, context.seconds)))
            return done(purpose)
        case .failed(let fault):
            flight.fail(fault, context.time)
            return settle(purpose, after: flight, fault.reason, context, &notes)
        }
    }

    /// A login came to nothing: a cookie that is still good goes along all the same.
    private func settle(
        _ purpose: Purpose, after flight: CookieFlight, _ reason: String, _ context: DetourContext,
        _ notes: inout [ExchangeMoment]
    ) -> DetourOrder? {
        if case .send = purpose, let key, let store = context.cookies,
            case .use(let found) = store.change({ $0.ask(key, after: nil, waited: flight.number, context.time) })
        {
            session = found
            notes.append(
                .login(interceptor: login.interceptor, "\(reason); the cookie \(login.cookie) goes along until its end")
            )
            return done(purpose)
        }
        return giveUp(reason, purpose, &notes)
    }

    private func words(_ jar: CookieJar, _ now: Int) -> String {
        guard let end = jar[login.cookie]?.expires else { return "logged in; the cookie \(login.cookie) tells no end" }
        let lasts = "logged in; the cookie \(login.cookie) lasts \(end - now) s"
        return end - now > login.renewBefore
            ? lasts : "\(lasts), no longer than renew_before: each request logs in anew"
    }

    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        switch stage {
        case .watching, .ready: return nil
        case .queueing(let purpose, _): return giveUp(reason, purpose, &notes) ?? .proceed
        case .talking(let purpose, let flight, _):
            flight.fail(CookieLoginFault(reason: reason, isRefusal: false), context.time)
            return settle(purpose, after: flight, reason, context, &notes) ?? .proceed
        }
    }

    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard isActive else { return nil }
        if let limit, context.now >= limit {
            return failed("the login took longer than hold allows", context, &notes)
        }
        guard case .queueing(let purpose, let flight) = stage else { return nil }
        return ask(purpose, after: flight, context, &notes) ?? .proceed
    }

    func abandon() { stage = .watching }

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
        return ask(.renew(response), after: nil, context, &notes) ?? .deliver(response)
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

    func delivers(_ status: Int) {}
}
