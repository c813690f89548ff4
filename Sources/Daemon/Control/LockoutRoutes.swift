public import Authorization
internal import Formats

/// Gives access to the counters of logins that AM refused.
public protocol LockoutDirectory {
    func entries() -> [Lockout.Entry]
    /// Resets all counters, or the one with this id.
    /// - Returns: the number of counters.
    func clear(_ id: String?) -> Int
}

/// The routes to show and reset paused logins.
public struct LockoutRoutes {
    private let directory: any LockoutDirectory

    public init(_ directory: any LockoutDirectory) { self.directory = directory }

    public var all: [ControlRoute] { [listing, clearing, clearingOne] }

    private var listing: ControlRoute {
        let login = ControlShape.object([
            "id": .text, "counts": .choice(Lockout.Entry.Scope.allCases.map(\.rawValue)), "at": .text,
            "refusals": .count, "successes": .count, "under_way": .count, "held_ms": .count,
        ])
        return ControlRoute(
            "GET", "/v1/lockout", "listLockout", "Shows how often AM refused logins without a person.",
            answers: [RouteAnswer("The counts.", .object(["logins": .list(login)]))]
        ) { _ throws(ControlProblem) in .now(list()) }
    }

    private static let cleared = RouteAnswer("The number of cleared counts.", .object(["cleared": .count]))

    private var clearing: ControlRoute {
        return ControlRoute(
            "DELETE", "/v1/lockout", "clearLockout", "Clears the counts of all logins.", answers: [Self.cleared]
        ) { _ throws(ControlProblem) in
            .json(["cleared": .integer(directory.clear(nil))])
        }
    }

    private var clearingOne: ControlRoute {
        return ControlRoute(
            "DELETE", "/v1/lockout/{id}", "clearLogin", "Clears the count of one login.",
            parameters: [.path("id", "The id of the login, as in the list.")], answers: [Self.cleared],
            problems: [404: "There is no count for that id."]
        ) { request throws(ControlProblem) in
            .now(try clear(request.arguments.text("id") ?? ""))
        }
    }

    private func list() -> ControlAnswer {
        ControlAnswer(
            [
                "logins": .array(
                    directory.entries().map { entry in
                        [
                            "id": .string(entry.id), "counts": .string(entry.scope.rawValue),
                            "at": .string(entry.place), "refusals": .integer(entry.refusals),
                            "successes": .integer(entry.successes), "under_way": .integer(entry.underWay),
                            "held_ms": .integer(entry.heldFor),
                        ]
                    })
            ])
    }

    private func clear(_ id: String) throws(ControlProblem) -> ControlAnswer {
        let count = directory.clear(id)
        guard count > 0 else { throw ControlProblem(404, "there is no count for that id") }
        return ControlAnswer(["cleared": .integer(count)])
    }
}
