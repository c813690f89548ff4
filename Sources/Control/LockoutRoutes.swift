public import Authorization
internal import Formats

/// The tallies of logins that AM refused, as the interface knows them.
public protocol LockoutDirectory {
    func entries() -> [Lockout.Entry]
    /// Forgets what counts against logins: all of them, or the one of that id.
    /// - Returns: how many.
    func clear(_ id: String?) -> Int
}

/// Showing and clearing what holds logins off.
public struct LockoutRoutes {
    private let directory: any LockoutDirectory

    public init(_ directory: any LockoutDirectory) { self.directory = directory }

    public var all: [ControlRouter.Route] {
        [
            ControlRouter.Route("GET", "/v1/lockout") { _, _ throws(ControlProblem) in list() },
            ControlRouter.Route("DELETE", "/v1/lockout") { _, _ throws(ControlProblem) in
                ControlAnswer(.object([.init("cleared", .integer(directory.clear(nil)))]))
            },
            ControlRouter.Route("DELETE", "/v1/lockout/*") { _, id throws(ControlProblem) in try clear(id) },
        ]
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
        guard count > 0 else { throw ControlProblem(404, "no login of that id is counted") }
        return ControlAnswer(.object([.init("cleared", .integer(count))]))
    }
}
