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
        let description = RouteDescription(
            "listLockout", "Shows how often AM refused logins without a person.",
            answers: [RouteAnswer("The counts.", .object(["logins": .list(login)]))])
        return ControlRoute("GET", "/v1/lockout", description) { _ throws(ControlProblem) in .now(list()) }
    }

    private static let cleared = RouteAnswer("The number of cleared counts.", .object(["cleared": .count]))

    private var clearing: ControlRoute {
        let description = RouteDescription(
            "clearLockout", "Clears the counts of all logins.", answers: [Self.cleared])
        return ControlRoute("DELETE", "/v1/lockout", description) { _ throws(ControlProblem) in
            .json(.object([.init("cleared", .integer(directory.clear(nil)))]))
        }
    }

    private var clearingOne: ControlRoute {
        let description = RouteDescription(
            "clearLogin", "Clears the count of one login.",
            parameters: [.path("id", "The id of the login, as in the list.")], answers: [Self.cleared],
            problems: [404: "There is no count for that id."])
        return ControlRoute("DELETE", "/v1/lockout/{id}", description) { request throws(ControlProblem) in
            .now(try clear(request.arguments.text("id") ?? ""))
        }
    }

    private func list() -> ControlAnswer {
        ControlAnswer(
            .object([
                .init(
                    "logins",
                    .array(
                        directory.entries().map { entry in
                            .object([
                                .init("id", .string(entry.id)), .init("counts", .string(entry.scope.rawValue)),
                                .init("at", .string(entry.place)), .init("refusals", .integer(entry.refusals)),
                                .init("successes", .integer(entry.successes)),
                                .init("under_way", .integer(entry.underWay)),
                                .init("held_ms", .integer(entry.heldFor)),
                            ])
                        }))
            ]))
    }

    private func clear(_ id: String) throws(ControlProblem) -> ControlAnswer {
        let count = directory.clear(id)
        guard count > 0 else { throw ControlProblem(404, "there is no count for that id") }
        return ControlAnswer(.object([.init("cleared", .integer(count))]))
    }
}
