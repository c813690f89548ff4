public import Formats

/// The result of a reload.
public struct ReloadReport: Sendable {
    public enum Outcome: Sendable {
        case isUnderWay
        /// The new configuration is active. Lists the changed keys and files, and the keys that need a restart.
        case done(changed: [String], restart: [String], warnings: [ConfigurationRemark])
        /// The old configuration stays active.
        case failed([ConfigurationRemark])
    }

    /// Counts the reloads of this process from 1.
    public var number: Int
    public var outcome: Outcome
    /// The active generation.
    public var generation: Int
    /// The time of the end, or the start while it runs, in seconds since 1970.
    public var at: Int
    /// The requester.
    public var by: String

    public init(number: Int, outcome: Outcome, generation: Int, at: Int, by: String) {
        self.number = number
        self.outcome = outcome
        self.generation = generation
        self.at = at
        self.by = by
    }
}

/// A fault or warning, with its position if known.
public struct ConfigurationRemark: Equatable, Sendable {
    public struct Place: Equatable, Sendable {
        public var file: String
        public var line: Int
        public var column: Int

        public init(file: String, line: Int, column: Int) {
            self.file = file
            self.line = line
            self.column = column
        }
    }

    public var place: Place?
    public var text: String

    public init(_ text: String, at place: Place? = nil) {
        self.text = text
        self.place = place
    }
}

/// Performs reloads.
public protocol ReloadDesk: AnyObject {
    /// Starts a reload. If one is running, it may have read the old file, so another follows it.
    /// - Returns: the number of the reload.
    func begin(by whom: String) throws(ControlProblem) -> Int
    /// The report of a reload, or of the last one; nil if there is none or it is too old.
    func report(_ number: Int?) -> ReloadReport?
}

/// The routes to reload the configuration and to ask for the result. A reload takes time, so POST returns before it ends.
public struct ReloadRoutes {
    private let desk: any ReloadDesk

    public init(_ desk: any ReloadDesk) { self.desk = desk }

    public var all: [ControlRoute] { [beginning, last, one] }

    private var beginning: ControlRoute {
        return ControlRoute(
            "POST", "/v1/reload", "reload", "Reloads the configuration. The result is available later.",
            answers: [
                RouteAnswer("It has started. Location names the URL of the result.", status: 202, ReloadReport.shape)
            ],
            problems: [409: "The daemon is ending."]
        ) { _ throws(ControlProblem) in
            let number = try desk.begin(by: "usher reload")
            var answer = try answer(number)
            answer.status = 202
            answer.fields.append(.init("Location", "/v1/reload/\(number)"))
            return .now(answer)
        }
    }

    private var last: ControlRoute {
        return ControlRoute(
            "GET", "/v1/reload", "lastReload", "Shows the result of the last reload.",
            answers: [RouteAnswer("The last reload.", ReloadReport.shape)],
            problems: [404: "There was no reload yet."]
        ) { _ throws(ControlProblem) in .now(try answer(nil)) }
    }

    private var one: ControlRoute {
        return ControlRoute(
            "GET", "/v1/reload/{number}", "showReload", "Shows the result of one of the last reloads.",
            parameters: [.path("number", "The number of the reload, as the response to it gave.")],
            answers: [RouteAnswer("The reload.", ReloadReport.shape)],
            problems: [
                404:
                    "There is no reload with that number."
            ]
        ) { request throws(ControlProblem) in
            guard let number = RouteParameter.number(request.arguments.text("number") ?? "") else {
                throw ControlProblem(404, "the id of a reload must be a number")
            }
            return .now(try answer(number))
        }
    }

    private func answer(_ number: Int?) throws(ControlProblem) -> ControlAnswer {
        guard let report = desk.report(number) else {
            throw ControlProblem(404, number == nil ? "there was no reload yet" : "there is no reload with that number")
        }
        return ControlAnswer(report.json)
    }
}

extension ReloadReport {
    static let shape = ControlShape.object([
        "reload": .count, "state": .choice(["running", "done", "failed"]), "generation": .count, "at": .text,
        "by": .text,
        "changed?": .list(.text), "restart?": .list(.text), "warnings?": .list(ConfigurationRemark.shape),
        "faults?": .list(ConfigurationRemark.shape),
    ])

    public var json: JSONValue {
        var members: JSONValue = [
            "reload": .integer(number), "state": .string(state), "generation": .integer(generation),
            "at": .string(CalendarTime(at).internet), "by": .string(by),
        ]
        switch outcome {
        case .isUnderWay: break
        case .done(let changed, let restart, let warnings):
            members["changed"] = .strings(changed)
            members["restart"] = .strings(restart)
            members["warnings"] = .array(warnings.map(\.json))
        case .failed(let faults): members["faults"] = .array(faults.map(\.json))
        }
        return members
    }

    private var state: String {
        switch outcome {
        case .isUnderWay: "running"
        case .done: "done"
        case .failed: "failed"
        }
    }
}

extension ConfigurationRemark {
    static let shape = ControlShape.object(["message": .text, "file?": .text, "line?": .count, "column?": .count])

    public var json: JSONValue {
        var members: JSONValue = ["message": .string(text)]
        if let place {
            members["file"] = .string(place.file)
            members["line"] = .integer(place.line)
            members["column"] = .integer(place.column)
        }
        return members
    }
}
