internal import Formats
internal import Journal
internal import Recordings

/// The routes to start, list and stop recordings.
extension FlowRoutes {
    var recordingRoutes: [ControlRoute] { [starting, listingRecordings, stopping] }

    private var starting: ControlRoute {
        let table = recordings
        return ControlRoute(
            "POST", "/v1/recordings", "startRecording",
            "Starts a recording: the flows from now on that match a filter.",
            body: .object([
                "name": .described(
                    "A name that no other recording under way has.", .pattern(ControlName.pattern)),
                "filter?": .described("Filters as for flows, separated by spaces.", .text),
            ]),
            answers: [RouteAnswer("The recording.", status: 201, RecordingTable.Mark.shape)],
            problems: [
                409: "There is no journal, or a recording of that name is under way.",
                422: "The name is invalid.", 429: "There are as many recordings as possible.",
            ]
        ) { request throws(ControlProblem) in
            let body = try request.object()
            try ControlProblem.refuseUnknown(body, ["name", "filter"], of: "a recording")
            guard let name = body["name"]?.text, ControlName.accepts(name) else {
                throw ControlProblem(422, "name takes up to 64 letters, digits, dots, dashes and underscores")
            }
            guard keepsFlows else { throw Self.noJournal }
            guard let words = (body["filter"] ?? "").text else { throw ControlProblem(422, "filter takes a text") }
            let filter = try Self.filter(FlowFilter.split(words), now: now)
            let began = now / 1000
            return later { ring, _ throws(ControlProblem) in
                var last = 0
                ring.newestFirst { flow in
                    last = flow[.sequence]
                    return false
                }
                let mark = RecordingTable.Mark(name: name, filter: filter, words: words, after: last, began: began)
                try table.start(mark)
                return .made(ControlAnswer(mark.json, status: 201))
            }
        }
    }

    private var listingRecordings: ControlRoute {
        let table = recordings
        return ControlRoute(
            "GET", "/v1/recordings", "listRecordings", "Lists the recordings under way, the oldest first.",
            answers: [
                RouteAnswer("The recordings.", .object(["recordings": .list(RecordingTable.Mark.shape)]))
            ]
        ) { _ in .json(["recordings": .array(table.all.map(\.json))]) }
    }

    /// The longest search for a recording's flows, in milliseconds.
    private static var recordingPatience: Int { 5000 }

    private var stopping: ControlRoute {
        let table = recordings
        return ControlRoute(
            "DELETE", "/v1/recordings/{name}", "stopRecording",
            "Ends a recording and gives the files of its folder, with aliases in place of secrets.",
            parameters: [.path("name", "The name of the recording.")],
            answers: [
                RouteAnswer(
                    "The recording. A file has text, or base64 if it is not text.",
                    .object([
                        "name": .text, "filter": .text, "began": .text, "exchanges": .count,
                        "remarks": .described("What the recording lacks.", .list(.text)),
                        "files": .list(.object(["name": .text, "text?": .text, "base64?": .text])),
                    ]))
            ], problems: [404: "No recording of that name is under way.", 409: "There is no journal."]
        ) { request throws(ControlProblem) in
            guard keepsFlows else { throw Self.noJournal }
            let mark = try table.stop(request.arguments.text("name") ?? "")
            let query = FlowQuery(mark.filter, .oldestFirst(after: mark.after), limit: Recording.most)
            let time = now / 1000
            return page(query, patience: Self.recordingPatience) { page, _, _ in
                Self.answer(mark, page, now: time)
            }
        }
    }

    private static func answer(_ mark: RecordingTable.Mark, _ page: FlowQuery.Page, now: Int) -> ControlAnswer {
        let (recording, found) = RecordingBuilder.recording(mark.name, of: page.flows, now: now)
        var remarks = found
        if page.next != nil {
            remarks.append("more flows match than a recording takes (\(Recording.most)); give a narrower filter")
        }
        var json = mark.json
        json["exchanges"] = .integer(recording.exchanges.count)
        json["remarks"] = .strings(remarks)
        json["files"] = .array(
            RecordingFiles(recording).all.map { file in
                if let text = String(validating: file.bytes, as: UTF8.self) {
                    ["name": .string(file.name), "text": .string(text)]
                } else {
                    ["name": .string(file.name), "base64": .string(Base64.encode(file.bytes))]
                }
            })
        return ControlAnswer(json)
    }
}
