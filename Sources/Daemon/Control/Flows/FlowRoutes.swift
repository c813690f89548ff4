internal import Formats
internal import Journal

/// The routes to list, follow, export and replay flows.
public struct FlowRoutes<Directory: FlowDirectory> {
    private let directory: Directory
    let recordings: RecordingTable

    public init(_ directory: Directory, recordings: RecordingTable = RecordingTable()) {
        self.directory = directory
        self.recordings = recordings
    }

    // fixed names precede parameters
    public var all: [ControlRoute] { [listing, following, showing, copying, replaying, archive] + recordingRoutes }

    var keepsFlows: Bool { directory.keepsFlows }
    /// Milliseconds since 1970.
    var now: Int { directory.time }

    private let most = 1000

    // MARK: parameters

    private static var terms: [RouteParameter] {
        [
            .query(
                "filter", .text(most: 1024),
                "A filter: a key of when or of the journal, with values, such as status=4xx.",
                isList: true),
            .query("q", .text(most: 2048), "Several filters, separated by spaces."),
        ]
    }

    private static var id: RouteParameter {
        .path("id", "The id, or a unique beginning or end of it.")
    }

    private static var reveal: RouteParameter {
        .query(
            "reveal", .flag,
            "Include the stored secrets. Only on the Unix socket and on the page, for the socket's owner.")
    }

    /// The source of secrets if the request asks to reveal them.
    private func secrets(_ request: ControlRequest) throws(ControlProblem) -> SecretSource? {
        guard request.arguments.flag("reveal") else { return nil }
        guard request.isOwner else {
            throw ControlProblem(
                403,
                "secrets are shown only on the Unix socket, or on the page of usher ui, to the daemon's user and to root"
            )
        }
        guard let secrets = directory.secrets else {
            throw ControlProblem(
                409, "no secrets are stored; set journal.reveal: true, which seals new ones with state.key")
        }
        return secrets
    }

    private static var missing: [Int: String] {
        [404: "There is no such flow.", 409: "There is no journal, or the id matches several flows."]
    }

    private static func filter(_ request: ControlRequest, now: Int) throws(ControlProblem) -> FlowFilter {
        try filter(request.arguments.texts("filter") + FlowFilter.split(request.arguments.text("q") ?? ""), now: now)
    }

    static func filter(_ terms: [String], now: Int) throws(ControlProblem) -> FlowFilter {
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
            throw ControlProblem(400, "before and after exclude each other; give one")
        }
        return FlowQuery(filter, .oldestFirst(after: after), limit: limit)
    }

    static var noJournal: ControlProblem {
        ControlProblem(409, "there is no journal: journal.memory is 0B")
    }

    /// A wait for a number of flows.
    struct Wait {
        var count: Int
        var filter: FlowFilter
        /// Only flows after this sequence.
        var after: Int
        /// In milliseconds.
        var time: Int

        var fault: ControlProblem {
            ControlProblem(
                504,
                "\(count == 1 ? "no matching flow" : "fewer than \(count) matching flows") came within "
                    + "\(Units.duration(time))")
        }
    }

    private static func wait(
        _ request: ControlRequest, for filter: FlowFilter
    ) throws(ControlProblem) -> Wait? {
        let arguments = request.arguments
        let time = arguments.integer("timeout")
        guard let count = arguments.integer("wait") else {
            if time != nil {
                throw ControlProblem(400, "timeout requires wait; add wait, or remove timeout")
            }
            return nil
        }
        return Wait(
            count: count, filter: filter, after: arguments.integer("after") ?? 0,
            time: time ?? ControlLimits.usualWait)
    }

    /// The result of a query in memory.
    enum Step {
        case made(ControlAnswer)
        /// The rest is on the disk.
        case onDisk(@Sendable (any FlowShelf) throws -> ControlAnswer)
    }

    /// - Parameter make: receives whether the disk can be read.
    /// - Parameter wait: the flows to wait for first.
    func later(
        _ wait: Wait? = nil, _ make: @escaping @Sendable (FlowRing, Bool) throws(ControlProblem) -> Step
    ) -> ControlReply {
        let disk = directory.disk
        func query(_ promise: ControlPromise) -> @Sendable (FlowRing) -> Void {
            { ring in
                do throws(ControlProblem) {
                    let hasDisk = disk?.isOpen ?? false
                    switch try make(ring, hasDisk) {
                    case .made(let answer): promise.keep(answer)
                    case .onDisk(let read): Self.ask(disk, promise, read)
                    }
                } catch {
                    promise.refuse(error)
                }
            }
        }
        guard let wait else {
            return .later { promise in if !directory.ask(query(promise)) { promise.refuse(Self.crowded) } }
        }
        return .waiting(within: wait.time, late: wait.fault) { promise in
            let until = Directory.clock() + wait.time + ControlLimits.waitGrace
            let isTaken = directory.wait(
                for: wait.count, of: wait.filter, after: wait.after, until: until, isWanted: { promise.isWanted },
                query(promise))
            if !isTaken { promise.refuse(Self.crowded) }
        }
    }

    private static func ask(
        _ disk: (any FlowDisk)?, _ promise: ControlPromise,
        _ read: @escaping @Sendable (any FlowShelf) throws -> ControlAnswer
    ) {
        let isTaken = disk?.ask { shelf in
            do {
                guard let shelf else { throw ControlProblem(503, "the journal on disk is not available any more") }
                promise.keep(try read(shelf))
            } catch let problem as ControlProblem {
                promise.refuse(problem)
            } catch {
                promise.refuse(ControlProblem(503, "the journal on disk cannot be read: \(error)"))
            }
        }
        if isTaken != true { promise.refuse(crowded) }
    }

    private static var crowded: ControlProblem {
        var problem = ControlProblem(503, "too many requests for the journal at once; try again")
        problem.retryAfter = 1
        return problem
    }

    /// Returns a function that tells whether this many milliseconds have passed.
    private static func isOver(after patience: Int) -> () -> Bool {
        let end = Directory.clock() + patience
        return { Directory.clock() >= end }
    }

    /// A page from memory, completed from the disk.
    /// - Parameters:
    /// - all: true if the response needs the disk in any case.
    /// - patience: the longest search in milliseconds. The next page continues it.
    /// - wait: the flows to wait for first.
    func page(
        _ query: FlowQuery, all: Bool = false, patience: Int = 250, _ wait: Wait? = nil,
        _ answer:
            @escaping @Sendable (FlowQuery.Page, _ kept: (count: Int, dropped: Int), (any FlowShelf)?) -> ControlAnswer
    ) -> ControlReply {
        return later(wait) { ring, hasDisk throws(ControlProblem) in
            let kept = (ring.count, ring.dropped)
            func onDisk(_ rest: FlowQuery.Rest) -> Step {
                .onDisk { shelf in answer(try rest.run(shelf, isOver: Self.isOver(after: patience)), kept, shelf) }
            }
            if hasDisk, let rest = query.rest(behind: nil, in: ring) { return onDisk(rest) }
            let page = query.run(ring, isOver: Self.isOver(after: patience))
            if hasDisk, let rest = query.rest(behind: page, in: ring) { return onDisk(rest) }
            return all && hasDisk ? .onDisk { answer(page, kept, $0) } : .made(answer(page, kept, nil))
        }
    }

    // MARK: lists

    private var listing: ControlRoute {
        return ControlRoute(
            "GET", "/v1/flows", "listFlows", "Lists flows, the newest first; with after, the oldest first.",
            parameters: Self.terms + [
                .query("limit", .integer(1...most), "The maximum number (default: 100)."),
                .query("before", .integer(0 ... .max), "Only flows before this sequence number."),
                .query("after", .integer(0 ... .max), "Only flows after this sequence number."),
                .query(
                    "wait", .integer(1...most), "Respond once this many flows match; 504 if they do not come."
                ),
                .query(
                    "timeout", .integer(1...ControlLimits.longestWait),
                    "The longest wait in milliseconds (default: \(ControlLimits.usualWait))."),
            ],
            answers: [
                RouteAnswer(
                    "The flows.",
                    .object([
                        "flows": .list(.object(FlowView.listedShape)),
                        "next": .described(
                            "The value for before or after of the next page; null at the end.",
                            .optional(.count)),
                        "kept": .described("The number of all flows in memory.", .count),
                        "dropped": .described("The number of flows that were removed from memory.", .count),
                    ]))
            ], problems: [409: "There is no journal.", 504: "The awaited flows did not come."]
        ) { request throws(ControlProblem) in
            let query = try query(request, standard: 100)
            return page(query, try Self.wait(request, for: query.filter)) { page, kept, _ in
                ControlAnswer(
                    [
                        "flows": .array(page.flows.map { FlowView($0).listed }),
                        "next": .optional(page.next), "kept": .integer(kept.count),
                        "dropped": .integer(kept.dropped),
                    ])
            }
        }
    }

    private var following: ControlRoute {
        return ControlRoute(
            "GET", "/v1/flows/stream", "followFlows", "Streams flows: one event for each finished flow.",
            parameters: Self.terms + [
                .query("after", .integer(0 ... .max), "Start with the flows after this sequence number, at most 1000.")
            ],
            answers: [
                RouteAnswer(
                    "Events named flow. Their data is a flow as in the list, and their id its sequence number.",
                    type: "text/event-stream")
            ], problems: [409: "There is no journal."]
        ) { request throws(ControlProblem) in
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

    // MARK: a single flow

    private var showing: ControlRoute {
        return ControlRoute(
            "GET", "/v1/flows/{id}", "showFlow", "Shows one flow completely.", parameters: [Self.id, Self.reveal],
            answers: [
                RouteAnswer(
                    "The flow with its messages, events and calls.", FlowView.wholeShape)
            ], problems: Self.missing
        ) { request throws(ControlProblem) in try one(request) { ControlAnswer($0) } }
    }

    private var copying: ControlRoute {
        return ControlRoute(
            "GET", "/v1/flows/{id}/copy", "copyFlow",
            "Writes a flow as a curl command, as its HTTP messages, as a case of usher test, or as an interceptor.",
            parameters: [
                Self.id,
                .query("as", .choice(FlowCopy.allCases.map(\.rawValue)), "The form.", isRequired: true), Self.reveal,
            ], answers: [RouteAnswer("The text.", type: Self.text)],
            problems: Self.missing.merging([422: "It is a tunnel, which has no such form."]) { $1 }
        ) { request throws(ControlProblem) in
            let form = FlowCopy(rawValue: request.arguments.text("as") ?? "") ?? .http
            return try one(request) { flow throws(ControlProblem) in
                ControlAnswer(try Directory.copy(flow, as: form), type: Self.text)
            }
        }
    }

    private static var text: String { "text/plain; charset=utf-8" }

    /// A complete flow.
    private func one(
        _ request: ControlRequest, _ answer: @escaping @Sendable (JSONValue) throws(ControlProblem) -> ControlAnswer
    ) throws(ControlProblem) -> ControlReply {
        guard directory.keepsFlows else { throw Self.noJournal }
        let id = request.arguments.text("id") ?? ""
        let secrets = try secrets(request)
        let place = request.entrance.rawValue
        @Sendable func shown(
            _ flow: PackedFlow, _ calls: [Int: [PackedFlow]], _ shelf: (any FlowShelf)?
        ) throws(ControlProblem) -> ControlAnswer {
            if secrets != nil { Directory.note("the secrets of flow \(FlowID(flow.id)) are shown on \(place)") }
            return try answer(FlowView(flow).shown(calls, secrets, shelf))
        }
        return later { ring, hasDisk throws(ControlProblem) in
            let (finding, calls) = (ring.find(id), ring.calls)
            guard hasDisk else { return .made(try shown(try finding.flow(id), calls, nil)) }
            return .onDisk { shelf in
                let found = if case .none = finding { try shelf.find(id) } else { finding }
                let flow = try found.flow(id)
                var family = FlowFamily(calls)
                try family.add(callsOf: flow, on: shelf)
                return try shown(flow, family.calls, shelf)
            }
        }
    }

    private var replaying: ControlRoute {
        return ControlRoute(
            "POST", "/v1/flows/{id}/replay", "replayFlow", "Sends the request again through the proxy, as a new flow.",
            parameters: [
                Self.id,
                .query("force", .flag, "Also send a request that has a value for one use."),
            ], body: ReplayWish.shape, needsBody: false,
            answers: [
                RouteAnswer(
                    "The response.",
                    .object(["flow": .optional(.text), "status": .integer(100...999), "of": .text]))
            ],
            problems: Self.missing.merging([
                422: "The request cannot or should not be sent again. The detail says why.",
                502: "The proxy gave no response.",
            ]) { $1 }
        ) { request throws(ControlProblem) in
            guard directory.keepsFlows else { throw Self.noJournal }
            let id = request.arguments.text("id") ?? ""
            var wish = try ReplayWish(try request.objectOrNothing())
            if request.arguments.flag("force") { wish.isForced = true }
            let secrets = request.isOwner ? directory.secrets : nil
            return .later(within: ControlLimits.replay + 3_000) { [wish] promise in
                directory.replay(id, wish, secrets, promise)
            }
        }
    }

    // MARK: HAR

    /// The limit of a page in bytes. A single flow may exceed it.
    private let archiveBytes = 4 << 20

    private var archive: ControlRoute {
        return ControlRoute(
            "GET", "/v1/flows.har", "archiveFlows",
            "Exports a page of flows as HTTP Archive 1.2, the oldest first. log._next is the value for after of "
                + "the next page.",
            parameters: Self.terms + [
                .query("limit", .integer(1...most), "The maximum number (default: 1000)."),
                .query("after", .integer(0 ... .max), "Only flows after this sequence number."),
                Self.reveal,
            ],
            answers: [RouteAnswer("An HTTP Archive.", .map(.any))], problems: [409: "There is no journal."]
        ) { request throws(ControlProblem) in
            var query = try query(request, standard: 1000)
            query.order = .oldestFirst(after: request.arguments.integer("after") ?? 0)
            let (most, version) = (archiveBytes, directory.version)
            let secrets = try secrets(request)
            let place = request.entrance.rawValue
            return page(query, all: secrets != nil) { page, _, shelf in
                var page = page
                if let secrets {
                    Directory.note("the secrets of \(page.flows.count) exported flows are shown on \(place)")
                    page.flows = page.flows.map { $0.revealed { secrets($0, shelf) } }
                }
                return HARPage(page, most: most, version: version).answer
            }
        }
    }
}
