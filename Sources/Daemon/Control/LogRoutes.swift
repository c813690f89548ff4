internal import Formats

/// The level of the running log.
public protocol LogDial: AnyObject {
    /// In ascending order of detail.
    var levels: [String] { get }
    var level: String { get }
    /// The configured level.
    var configured: String { get }
    /// Sets the level until the next reload.
    /// - Parameter level: one of `levels`.
    func turn(to level: String) throws(ControlProblem)
}

/// The routes to show and change the log level.
public struct LogRoutes {
    private let dial: any LogDial

    public init(_ dial: any LogDial) { self.dial = dial }

    public var all: [ControlRoute] { [showing, changing] }

    private var answer: RouteAnswer {
        RouteAnswer(
            "The current level, and that of the configuration.",
            .object(["level": .choice(dial.levels), "configured": .choice(dial.levels)]))
    }

    private var reply: ControlReply {
        .json(
            ["level": .string(dial.level), "configured": .string(dial.configured)])
    }

    private var showing: ControlRoute {
        return ControlRoute(
            "GET", "/v1/log/level", "showLogLevel", "Shows the log level.", answers: [answer]
        ) { _ throws(ControlProblem) in reply }
    }

    private var changing: ControlRoute {
        return ControlRoute(
            "PUT", "/v1/log/level", "changeLogLevel", "Changes the log level until the next reload.",
            body: .object(["level": .choice(dial.levels)]), answers: [answer],
            problems: [409: "No log is written.", 422: "There is no such level."]
        ) { request throws(ControlProblem) in
            let body = try request.object()
            if let odd = body.members?.first(where: { $0.name != "level" }) {
                throw ControlProblem(422, "unknown member \(odd.name.prefix(40)); the only member is level")
            }
            guard let level = body["level"]?.text, dial.levels.contains(where: { $0.utf8.elementsEqual(level.utf8) })
            else {
                throw ControlProblem(422, "level must be one of \(dial.levels.joined(separator: ", "))")
            }
            try dial.turn(to: level)
            return reply
        }
    }
}
