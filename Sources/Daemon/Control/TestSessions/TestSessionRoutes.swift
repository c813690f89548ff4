internal import Declaration
public import Formats

/// The open test sessions. Its methods may take a while and keep a promise.
public protocol TestSessionDirectory: AnyObject {
    /// Oldest first.
    var all: [TestSessionView] { get }
    func open(_ wish: TestSessionWish, _ promise: ControlPromise)
    /// - Parameter id: the id or the name of a session.
    func find(_ id: String) -> TestSessionView?
    func close(_ id: String, _ promise: ControlPromise)
    /// Adds an interceptor that runs before all others.
    func add(_ rule: JSONValue, to id: String, _ promise: ControlPromise)
    func remove(_ rule: String, from id: String, _ promise: ControlPromise)
    /// Adds an expectation, or a list of them, on the flows from now on.
    func expect(_ expectation: JSONValue, of id: String, _ promise: ControlPromise)
    /// Judges the flows that have ended by now.
    /// - Parameter wait: waits this long for what is missing, in milliseconds.
    func report(_ id: String, wait: Int, _ promise: ControlPromise)
}

/// The routes to open, show, change and close test sessions.
public struct TestSessionRoutes {
    private let directory: () -> (any TestSessionDirectory)?

    /// - Parameter directory: nil while the daemon starts.
    public init(_ directory: @escaping () -> (any TestSessionDirectory)?) { self.directory = directory }

    public var all: [ControlRoute] {
        [opening, listing, showing, closing, adding, rules, removing, expecting, reporting]
    }

    private static let id = RouteParameter.path("id", "The id or the name of the session.")
    private static let unknown = [404: "No open session has that id or name."]

    private var opening: ControlRoute {
        ControlRoute(
            "POST", "/v1/sessions", "openSession", "Opens a test session.", body: TestSessionWish.shape,
            answers: [RouteAnswer("The session, with its key.", status: 201, TestSessionView.openedShape)],
            problems: [
                409: "Another open session has the name, or all robots are lent.",
                422: "The overlay is invalid; faults lists all errors.",
                429: "There are as many sessions as possible.",
            ]
        ) { request throws(ControlProblem) in
            let wish = try TestSessionWish(try request.object())
            let sessions = try open()
            return .later { sessions.open(wish, $0) }
        }
    }

    private var listing: ControlRoute {
        ControlRoute(
            "GET", "/v1/sessions", "listSessions", "Lists the open test sessions, the oldest first.",
            answers: [RouteAnswer("The sessions.", .object(["sessions": .list(TestSessionView.shape)]))]
        ) { _ throws(ControlProblem) in .json(["sessions": .array(try open().all.map(\.json))]) }
    }

    private var showing: ControlRoute {
        ControlRoute(
            "GET", "/v1/sessions/{id}", "showSession", "Shows a test session.", parameters: [Self.id],
            answers: [RouteAnswer("The session.", TestSessionView.shape)], problems: Self.unknown
        ) { request throws(ControlProblem) in .json(try found(request).json) }
    }

    private var closing: ControlRoute {
        ControlRoute(
            "DELETE", "/v1/sessions/{id}", "closeSession",
            "Closes a test session. Its exchanges under way go on to their end.", parameters: [Self.id],
            answers: [RouteAnswer("The session as it was.", TestSessionView.shape)], problems: Self.unknown
        ) { request throws(ControlProblem) in
            let (sessions, session) = (try open(), try found(request))
            return .later { sessions.close(session.id, $0) }
        }
    }

    private var rules: ControlRoute {
        ControlRoute(
            "GET", "/v1/sessions/{id}/rules", "listRules",
            "Lists the interceptors of a test session, those that run first first.", parameters: [Self.id],
            answers: [RouteAnswer("The rules.", .object(["rules": .list(TestSessionView.ruleShape)]))],
            problems: Self.unknown
        ) { request throws(ControlProblem) in .json(["rules": try found(request).rulesJSON]) }
    }

    private var adding: ControlRoute {
        ControlRoute(
            "POST", "/v1/sessions/{id}/rules", "addRule",
            "Adds an interceptor that runs before all others. The body has the keys of an entry of interceptors.",
            parameters: [Self.id], body: .map(.any),
            answers: [RouteAnswer("The rule.", status: 201, TestSessionView.ruleShape)],
            problems: Self.unknown.merging([
                409: "The session has a rule of that name.", 422: "The rule is invalid; faults lists all errors.",
            ]) { $1 }
        ) { request throws(ControlProblem) in
            let (sessions, session, rule) = (try open(), try found(request), try request.object())
            return .later { sessions.add(rule, to: session.id, $0) }
        }
    }

    private var removing: ControlRoute {
        ControlRoute(
            "DELETE", "/v1/sessions/{id}/rules/{rule}", "removeRule", "Removes a rule that was added.",
            parameters: [Self.id, .path("rule", "The name of the rule.")],
            answers: [RouteAnswer("The rules that remain.", .object(["rules": .list(TestSessionView.ruleShape)]))],
            problems: [404: "No open session has that id or name, or no added rule has that name."]
        ) { request throws(ControlProblem) in
            let (sessions, session) = (try open(), try found(request))
            return .later { sessions.remove(request.arguments.text("rule") ?? "", from: session.id, $0) }
        }
    }

    private var expecting: ControlRoute {
        ControlRoute(
            "POST", "/v1/sessions/{id}/expectations", "addExpectation",
            "Adds an expectation on the flows from now on. The body has the keys of an entry of expect.",
            parameters: [Self.id], body: .map(.any),
            answers: [RouteAnswer("The names of what was added.", status: 201, .object(["added": .list(.text)]))],
            problems: Self.unknown.merging([
                409: "The session has an expectation of that name, or flows are not recorded.",
                422: "The expectation is invalid; faults lists all errors.",
            ]) { $1 }
        ) { request throws(ControlProblem) in
            let (sessions, session, expectation) = (try open(), try found(request), try request.object())
            return .later { sessions.expect(expectation, of: session.id, $0) }
        }
    }

    private static let wait = RouteParameter.query(
        "wait", .integer(0...ControlLimits.longestWait),
        "Waits this long for what is missing, in milliseconds. 0 without the parameter.")

    private var reporting: ControlRoute {
        ControlRoute(
            "GET", "/v1/sessions/{id}/report", "reportSession",
            "Judges the flows of a test session by its expectations.", parameters: [Self.id, Self.wait],
            answers: [RouteAnswer("The report.", ExpectationShape.report)], problems: Self.unknown
        ) { request throws(ControlProblem) in
            let (sessions, session) = (try open(), try found(request))
            let wait = request.arguments.integer("wait") ?? 0
            return .later(within: ControlLimits.work + wait) { sessions.report(session.id, wait: wait, $0) }
        }
    }

    private func found(_ request: ControlRequest) throws(ControlProblem) -> TestSessionView {
        let id = request.arguments.text("id") ?? ""
        let sessions = try open()
        if let session = sessions.find(id) { return session }
        throw .unknown("open test session", id, among: sessions.all.flatMap { [$0.id] + [$0.name].compactMap { $0 } })
    }

    private func open() throws(ControlProblem) -> any TestSessionDirectory {
        guard let sessions = directory() else { throw ControlProblem(503, "the daemon is not ready yet") }
        return sessions
    }
}

extension ControlProblem {
    /// Nothing of that kind has the name; the nearest name is suggested.
    public static func unknown(_ kind: String, _ name: String, among known: [String]) -> ControlProblem {
        let nearest = Nearest.name(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
        return ControlProblem(404, "there is no \(kind) \"\(name.prefix(64))\"\(nearest)")
    }
}
