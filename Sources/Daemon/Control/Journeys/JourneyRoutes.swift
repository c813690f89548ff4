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
            throw ControlProblem(409, "there is no journal: journal.memory is 0B")
        }
        return .later { promise in
            let isTaken = directory.ask { ring in
                do throws(ControlProblem) { promise.keep(try make(JourneyBook(ring))) } catch {
                    promise.refuse(error)
                }
            }
            guard !isTaken else { return }
            var problem = ControlProblem(503, "too many requests for the journal at once; try again")
            problem.retryAfter = 1
            promise.refuse(problem)
        }
    }

    private var listing: ControlRoute {
        return ControlRoute(
            "GET", "/v1/journeys", "listJourneys", "Lists logins, the newest first.",
            parameters: [
                .query(
                    "filter", .text(most: 1024),
                    "A filter: outcome, by, login, or a filter of flows that one of the journey's calls to AM has "
                        + "to match.",
                    isList: true),
                .query("limit", .integer(1...most), "The maximum number (default: 100)."),
                .query("before", .integer(0 ... .max), "Only journeys that began before this sequence number."),
            ],
            answers: [
                RouteAnswer(
                    "The journeys.",
                    .object([
                        "journeys": .list(.object(JourneyView.listedShape)),
                        "next": .described(
                            "The value for before of the next page; null at the end.", .optional(.count)),
                    ]))
            ], problems: [409: "There is no journal."]
        ) { request throws(ControlProblem) in
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
                    [
                        "journeys": .array(page.journeys.map { JourneyView(journey: $0, now: now).listed }),
                        "next": .optional(page.next),
                    ])
            }
        }
    }

    private var showing: ControlRoute {
        return ControlRoute(
            "GET", "/v1/journeys/{id}", "showJourney", "Shows one login: its steps, its credentials and their use.",
            parameters: [
                .path(
                    "id",
                    "The id of the journey or of one of its flows, or a unique beginning or end of it.")
            ],
            answers: [RouteAnswer("The journey.", JourneyView.wholeShape)],
            problems: [
                404: "There is no such journey.", 409: "There is no journal, or the id matches several journeys.",
            ]
        ) { request throws(ControlProblem) in
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
            throw ControlProblem(409, "\(id.prefix(40)) matches several journeys, such as \(Self.words(ids))")
        case .none(let newest):
            let known =
                newest.isEmpty
                ? "there is none; only logins at an AM in am count"
                : "the newest are \(Self.words(newest))"
            throw ControlProblem(404, "there is no journey \(id.prefix(40)); \(known)")
        }
    }

    private static func words(_ ids: [FlowID]) -> String { ids.map(\.description).joined(separator: ", ") }
}
