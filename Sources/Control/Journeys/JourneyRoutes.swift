internal import Formats
internal import Journal

/// The routes of journeys, which are built from the stored flows.
public struct JourneyRoutes<Directory: FlowDirectory> {
    private let directory: Directory

    public init(_ directory: Directory) { self.directory = directory }

    public var all: [ControlRoute] { [listing, showing] }

    private let most = 1000

    private func later(
        _ make: @escaping @Sendable (JourneyBook) throws(ControlProblem) -> ControlAnswer
    ) throws(ControlProblem) -> ControlReply {
        guard directory.keepsFlows else {
            throw ControlProblem(409, "no journal is kept (journal.memory is 0B)")
        }
        return .later { promise in
            let isTaken = directory.ask { ring in
                do throws(ControlProblem) { promise.keep(try make(JourneyBook(ring))) } catch {
                    promise.refuse(error)
                }
            }
            guard !isTaken else { return }
            var problem = ControlProblem(503, "too many ask the journal at once")
            problem.retryAfter = 1
            promise.refuse(problem)
        }
    }

    private var listing: ControlRoute {
        let description = RouteDescription(
            "listJourneys", "Logins, the newest first, each with the calls that belong to it.",
            parameters: [
                .query(
                    "filter", .text(most: 1024),
                    "A term: outcome, by or login, or one of flows, which one of a journey's calls to AM has to meet.",
                    isList: true),
                .query("limit", .integer(1...most), "How many at most; 100 where nobody says."),
                .query("before", .integer(0 ... .max), "Those alone that began before that sequence."),
            ],
            answers: [
                RouteAnswer(
                    "What was found.",
                    .object([
                        "journeys": .list(.object(JourneyView.listedShape)),
                        "next": .described(
                            "What before goes on by; null where all have been looked at.", .optional(.count)),
                    ]))
            ], problems: [409: "No journal is kept."])
        return ControlRoute("GET", "/v1/journeys", description) { request throws(ControlProblem) in
            let now = directory.time
            let filter: JourneyFilter
            do throws(FlowFilter.Fault) {
                filter = try JourneyFilter(request.arguments.texts("filter"), now: now)
            } catch { throw ControlProblem(400, error.description) }
            let limit = request.arguments.integer("limit") ?? 100
            let before = request.arguments.integer("before") ?? .max
            return try later { book throws(ControlProblem) in
                let page = book.page(filter, before: before, limit: limit, now: now)
                return ControlAnswer(
                    .object([
                        .init("journeys", .array(page.journeys.map { JourneyView(journey: $0, now: now).listed })),
                        .init("next", page.next.map { .integer($0) } ?? .null),
                    ]))
            }
        }
    }

    private var showing: ControlRoute {
        let description = RouteDescription(
            "showJourney", "One login, whole: its steps, what was won, and what that was used for.",
            parameters: [
                .path(
                    "id",
                    "As it is listed, or any flow of it; its beginning or its end are enough where they fit one alone.")
            ],
            answers: [RouteAnswer("The journey.", JourneyView.wholeShape)],
            problems: [
                404: "No such journey is kept.", 409: "No journal is kept, or the id fits several journeys.",
            ])
        return ControlRoute("GET", "/v1/journeys/{id}", description) { request throws(ControlProblem) in
            let now = directory.time
            let id = request.arguments.text("id") ?? ""
            return try later { book throws(ControlProblem) in
                ControlAnswer(JourneyView(journey: try book.journey(id), now: now).whole(in: book))
            }
        }
    }
}

extension JourneyBook {
    /// The journey with this id, or the problem to report.
    fileprivate func journey(_ id: String) throws(ControlProblem) -> Journey {
        switch find(id) {
        case .one(let journey): return journey
        case .other(let flow): throw ControlProblem(404, "flow \(flow) belongs to no journey")
        case .several(let ids):
            throw ControlProblem(409, "\(id.prefix(40)) fits several, among them \(Self.words(ids))")
        case .none(let newest):
            let known =
                newest.isEmpty
                ? "none is kept: what is no login of a configured AM (am) is no journey"
                : "the newest are \(Self.words(newest))"
            throw ControlProblem(404, "no journey \(id.prefix(40)) is kept; \(known)")
        }
    }

    private static func words(_ ids: [FlowID]) -> String { ids.map(\.description).joined(separator: ", ") }
}
