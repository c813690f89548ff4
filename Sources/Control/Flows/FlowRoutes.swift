internal import Formats
public import Journal

/// Looking at what went through, following it, taking it along, and having it sent again.
public struct FlowRoutes<Directory: FlowDirectory> {
    private let directory: Directory

    public init(_ directory: Directory) { self.directory = directory }

    // what has a name of its own stands before what has any
    public var all: [ControlRoute] { [listing, following, showing, replaying, archive] }

    /// Milliseconds of one look through all flows; what it did not come to, the next one does.
    private let patience = 250
    private let most = 1000

    // MARK: parameters

    private static var terms: [RouteParameter] {
        [
            .query(
                "filter", .text(most: 1024),
                "A term: a key of when, or one of the journal's, and values, as in status=4xx.",
                isList: true),
            .query("q", .text(most: 2048), "Several terms with spaces between them."),
        ]
    }

    private static var id: RouteParameter {
        .path("id", "As it is listed; its beginning or its end are enough where they fit one alone.")
    }

    private static var missing: [Int: String] {
        [404: "No such flow is kept.", 409: "No journal is kept, or the id fits several flows."]
    }

    private static func filter(_ request: ControlRequest, now: Int) throws(ControlProblem) -> FlowFilter {
        let terms = request.arguments.texts("filter") + FlowFilter.split(request.arguments.text("q") ?? "")
        do throws(FlowFilter.Fault) { return try FlowFilter(terms, now: now) } catch {
            throw ControlProblem(400, error.description)
        }
    }

    private func query(_ request: ControlRequest, standard: Int) throws(ControlProblem) -> FlowQuery {
        guard directory.keepsFlows else { throw Self.noJournal }
        let arguments = request.arguments
        let filter = try Self.filter(request, now: directory.time)
        let limit = arguments.integer("limit") ?? standard
        guard let after = arguments.integer("after") else {
            return FlowQuery(filter, .newestFirst(before: arguments.integer("before") ?? .max), limit: limit)
        }
        guard arguments.integer("before") == nil else {
            throw ControlProblem(400, "before and after stand for two orders; name one")
        }
        return FlowQuery(filter, .oldestFirst(after: after), limit: limit)
    }

    private static var noJournal: ControlProblem {
        ControlProblem(409, "no journal is kept (journal.memory is 0B)")
    }

    private func later(
        _ make: @escaping @Sendable (FlowRing) throws(ControlProblem) -> ControlAnswer
    ) -> ControlReply {
        .later { promise in
            let isTaken = directory.ask { ring in
                do throws(ControlProblem) { promise.keep(try make(ring)) } catch { promise.refuse(error) }
            }
            guard !isTaken else { return }
            var problem = ControlProblem(503, "too many ask the journal at once")
            problem.retryAfter = 1
            promise.refuse(problem)
        }
    }

    // MARK: lists

    private var listing: ControlRoute {
        let description = RouteDescription(
            "listFlows", "What went through, the newest first; with after, the oldest first.",
            parameters: Self.terms + [
                .query("limit", .integer(1...most), "How many at most; 100 where nobody says."),
                .query("before", .integer(0 ... .max), "Those alone that came before that sequence."),
                .query("after", .integer(0 ... .max), "Those alone that came after that sequence."),
            ],
            answers: [
                RouteAnswer(
                    "What was found.",
                    .object([
                        "flows": .list(.object(FlowView.listedShape)),
                        "next": .described(
                            "What before, or after, goes on by; null where all have been looked at.",
                            .optional(.count)),
                        "kept": .described("How many there are, whatever they are.", .count),
                        "dropped": .described("How many made room for those.", .count),
                    ]))
            ], problems: [409: "No journal is kept."])
        return ControlRoute("GET", "/v1/flows", description) { request throws(ControlProblem) in
            let query = try query(request, standard: 100)
            let patience = patience
            return later { ring throws(ControlProblem) in
                let end = Directory.clock() + patience
                let page = query.run(ring) { Directory.clock() >= end }
                return ControlAnswer(
                    .object([
                        .init("flows", .array(page.flows.map { FlowView($0).listed })),
                        .init("next", page.next.map { .integer($0) } ?? .null),
                        .init("kept", .integer(ring.count)), .init("dropped", .integer(ring.dropped)),
                    ]))
            }
        }
    }

    private var following: ControlRoute {
        let description = RouteDescription(
            "followFlows", "What goes through, as it does: an event for each flow that is over.",
            parameters: Self.terms + [
                .query("after", .integer(0 ... .max), "Begins with those that came after that sequence, 1000 at most.")
            ],
            answers: [
                RouteAnswer(
                    "Events named flow, their data as they are listed, their ids the sequence.",
                    type: "text/event-stream")
            ], problems: [409: "No journal is kept."])
        return ControlRoute("GET", "/v1/flows/stream", description) { request throws(ControlProblem) in
            guard directory.keepsFlows else { throw Self.noJournal }
            let filter = try Self.filter(request, now: directory.time)
            let after = request.arguments.integer("after")
            return .following { follower in
                directory.follow(filter, after: after, follower) { flow in
                    ServerEvent("flow", id: "\(flow[.sequence])", data: FlowView(flow).listed)
                }
            }
        }
    }

    // MARK: one

    private var showing: ControlRoute {
        let description = RouteDescription(
            "showFlow", "One flow, whole.", parameters: [Self.id],
            answers: [RouteAnswer("It and what belongs to it.", FlowView.wholeShape)], problems: Self.missing)
        return ControlRoute("GET", "/v1/flows/{id}", description) { request throws(ControlProblem) in
            guard directory.keepsFlows else { throw Self.noJournal }
            let id = request.arguments.text("id") ?? ""
            return later { ring throws(ControlProblem) in
                ControlAnswer(FlowView(try ring.flow(id)).whole(ring.calls))
            }
        }
    }

    private var replaying: ControlRoute {
        let description = RouteDescription(
            "replayFlow", "Sends the request again, through the proxy, as a flow of its own.",
            parameters: [
                Self.id,
                .query("force", .flag, "Also where it holds what is good for one use alone."),
            ],
            answers: [
                RouteAnswer(
                    "What was answered.",
                    .object(["flow": .optional(.text), "status": .integer(100...999), "of": .text]))
            ],
            problems: Self.missing.merging([
                422: "It cannot be sent again, or should not be; the detail says why.",
                502: "The proxy gave no answer.",
            ]) { $1 })
        return ControlRoute("POST", "/v1/flows/{id}/replay", description) { request throws(ControlProblem) in
            guard directory.keepsFlows else { throw Self.noJournal }
            let id = request.arguments.text("id") ?? ""
            let isForced = request.arguments.flag("force")
            return .later(within: ControlLimits.replay + 3_000) { promise in
                directory.replay(id, isForced: isForced, promise)
            }
        }
    }

    // MARK: HAR

    /// Bytes of a page; one flow may take more.
    private let archiveBytes = 4 << 20

    private var archive: ControlRoute {
        let description = RouteDescription(
            "archiveFlows",
            "A page of what went through as an HTTP Archive 1.2, the oldest first. log._next is what after goes on by.",
            parameters: Self.terms + [
                .query("limit", .integer(1...most), "How many at most; 1000 where nobody says."),
                .query("after", .integer(0 ... .max), "Those alone that came after that sequence."),
            ],
            answers: [RouteAnswer("An HTTP Archive.", .map(.any))], problems: [409: "No journal is kept."])
        return ControlRoute("GET", "/v1/flows.har", description) { request throws(ControlProblem) in
            var query = try query(request, standard: 1000)
            query.order = .oldestFirst(after: request.arguments.integer("after") ?? 0)
            let (patience, most, version) = (patience, archiveBytes, directory.version)
            let asked = query
            return later { ring throws(ControlProblem) in
                let end = Directory.clock() + patience
                let page = asked.run(ring) { Directory.clock() >= end }
                return HARPage(page, most: most, version: version).answer
            }
        }
    }
}

extension FlowRing {
    /// The flow of an id, or why there is none.
    public func flow(_ id: String) throws(ControlProblem) -> PackedFlow {
        switch find(id) {
        case .one(let flow): return flow
        case .none: throw ControlProblem(404, "no flow \(id.prefix(40)) is kept")
        case .several(let ids):
            let some = ids.map(\.description).joined(separator: ", ")
            throw ControlProblem(409, "\(id) fits several flows, among them \(some)")
        }
    }
}
