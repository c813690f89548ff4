internal import Formats
internal import Journal

/// A journey as JSON: a row of a list, or complete with its steps, tokens and their use.
struct JourneyView {
    let journey: Journey
    /// Milliseconds since 1970.
    let now: Int

    // MARK: rows of a list

    static let listedShape: KeyValuePairs<String, ControlShape> = [
        "id": .text, "sequence": .count, "began": .text,
        "duration_ms": .described("The time from the first call of the login to its last.", .count),
        "am_ms": .described("The part of that time in AM.", .count),
        "app_ms": .described("The part of that time between the calls, spent by the person or the app.", .count),
        "outcome": .choice(JourneyOutcome.allCases.map(\.rawValue)),
        "reason": .described("The reason for the failure, as AM reports it.", .optional(.text)),
        "client": .text, "user": .optional(.text),
        "login": .described("The name that was entered.", .optional(.text)),
        "realm": .optional(.text), "tree": .optional(.text), "type": .optional(.text), "by": .choice(["app", "usher"]),
        "parent": .described("The flow that needed this login.", .optional(.text)),
        "complete": .described("false: earlier calls are not in the journal.", .flag),
        "session": .optional(.text), "steps": .count, "calls": .count, "tokens": .count,
        "origins": .described("The number of origins that got its credentials.", .count), "requests": .count,
        "ended_by": .described("The flow that ended the session.", .optional(.text)),
    ]

    var listed: JSONValue {
        let flow = journey.first
        let surplus = journey.more
        let requests = journey.resources.reduce(surplus.requests) { $0 + $1.requests }
        return .object([
            .init("id", .string(journey.id.description)), .init("sequence", .integer(flow[.sequence])),
            .init("began", .string(FlowTime(flow).text)), .init("duration_ms", .integer(journey.duration)),
            .init("am_ms", .integer(journey.atServer)), .init("app_ms", .integer(journey.pauses)),
            .init("outcome", .string(journey.outcome(at: now).rawValue)),
            .init("reason", Self.text(journey.reason)), .init("client", .string(flow.text(.client) ?? "")),
            .init("user", Self.text(flow.text(.user))), .init("login", Self.text(journey.login)),
            .init("realm", Self.text(flow.text(.realm))), .init("tree", Self.text(flow.text(.tree))),
            .init("type", Self.text(flow.text(.type))),
            .init("by", .string(journey.parent == nil ? "app" : "usher")), .init("parent", Self.id(journey.parent)),
            .init("complete", .bool(!journey.lacksBeginning)), .init("session", Self.text(journey.session?.text)),
            .init("steps", .integer(journey.stepCount)),
            .init("calls", .integer(journey.calls.count + surplus.calls)),
            .init("tokens", .integer(journey.tokens.count + surplus.tokens)),
            .init("origins", .integer(journey.resources.count)), .init("requests", .integer(requests)),
            .init("ended_by", Self.id(journey.end.map { FlowID($0.id) })),
        ])
    }

    private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    private static func id(_ id: FlowID?) -> JSONValue { id.map { .string($0.description) } ?? .null }

    // MARK: complete journeys

    private static let status = ControlShape.optional(.integer(100...999))
    private static let callbackShape = ControlShape.object([
        "type": .text, "prompt": .text,
        "answer": .described("The answer. Aliases replace secrets.", .optional(.text)),
    ])
    private static let stepShape = ControlShape.object([
        "flow": .text, "action": .optional(.text), "at_ms": .count, "duration_ms": .count, "am_ms": .count,
        "pause_ms": .described("The time since the previous call.", .count), "status": status,
        "ending": .choice(JourneyEnding.allCases.map(word)), "reason": .optional(.text),
        "repeated": .described("true: the same authId was sent before.", .flag),
        "attempts": .described("The number of times that Usher sent the call.", .count), "stage": .optional(.text),
        "header": .optional(.text),
        "callbacks": .described("AM's callbacks, with the answers of the next call.", .list(callbackShape)),
    ])
    private static let tokenShape = ControlShape.object([
        "kind": .choice(JourneyToken.Kind.allCases.map(\.rawValue)), "alias": .text, "flow": .text, "at_ms": .count,
    ])
    private static let callShape = ControlShape.object([
        "flow": .text, "action": .optional(.text), "at_ms": .count, "duration_ms": .count, "status": status,
        "error": .optional(.text),
        "with": .described(
            "The alias that connects the call to the journey.", .optional(.text)),
        "won": .list(.text),
    ])
    private static let resourceShape = ControlShape.object([
        "origin": .text, "first": .text, "requests": .count,
        "paths": .described("The number of different paths. 1000 means 1000 or more.", .count),
        "statuses": .list(.object(["status": status, "count": .count])),
    ])

    static let wholeShape = ControlShape.object([
        "journey": .object(listedShape), "steps": .list(stepShape), "calls": .list(callShape),
        "tokens": .list(tokenShape), "resources": .list(resourceShape),
        "from": .described(
            "The session at the start, and the journey that obtained it.",
            .optional(.object(["session": .text, "journey": .optional(.text)]))),
        "stepped_up_by": .described("Journeys that continued with the session.", .list(.text)),
        "for": .described(
            "The request that needed this login.",
            .optional(.object(["flow": .text, "method": .text, "url": .text, "status": status]))),
        "left_out": .described(
            "The numbers of entries that are left out.",
            .object(["steps": .count, "calls": .count, "tokens": .count, "requests": .count])),
        "flows_lost": .described("true: older flows were removed from the journal, and may be missing here.", .flag),
    ])

    func whole(in book: JourneyBook) -> JSONValue {
        let surplus = journey.more
        return .object([
            .init("journey", listed), .init("steps", .array(journey.steps.indices.map(step))),
            .init("calls", .array(journey.calls.map(call))), .init("tokens", .array(journey.tokens.map(token))),
            .init("resources", .array(journey.resources.map(Self.resource))), .init("from", from),
            .init("stepped_up_by", .array(journey.successors.map { .string($0.description) })),
            .init("for", book.parent(of: journey).map(Self.request) ?? .null),
            .init(
                "left_out",
                .object([
                    .init("steps", .integer(surplus.steps)), .init("calls", .integer(surplus.calls)),
                    .init("tokens", .integer(surplus.tokens)), .init("requests", .integer(surplus.requests)),
                ])), .init("flows_lost", .bool(book.hasLost)),
        ])
    }

    private func at(_ flow: PackedFlow) -> JSONValue { .integer(max(0, flow[.began] - journey.began)) }

    private static func status(of flow: PackedFlow) -> JSONValue {
        flow[.status] == 0 ? .null : .integer(flow[.status])
    }

    private static func word(_ ending: JourneyEnding) -> String {
        switch ending {
        case .asks: "asks"
        case .suspends: "suspends"
        case .succeeds: "succeeds"
        case .refuses: "refuses"
        case .fails: "fails"
        case .unread: "unread"
        }
    }

    private func step(_ index: Int) -> JSONValue {
        let step = journey.steps[index]
        let flow = step.flow
        let callbacks = journey.callbacks(of: index).map { callback in
            JSONValue.object([
                .init("type", .string(callback.type)), .init("prompt", .string(callback.prompt)),
                .init("answer", Self.text(callback.answer)),
            ])
        }
        return .object([
            .init("flow", .string(FlowID(flow.id).description)), .init("action", Self.text(flow.text(.action))),
            .init("at_ms", at(flow)), .init("duration_ms", .integer(max(0, flow[.duration]))),
            .init("am_ms", .integer(step.atServer)), .init("pause_ms", .integer(step.pause)),
            .init("status", Self.status(of: flow)), .init("ending", .string(Self.word(step.ending))),
            .init("reason", Self.text(step.reason)), .init("repeated", .bool(step.isRepeated)),
            .init("attempts", .integer(flow[.attempts])),
            .init("stage", Self.text(step.stage)), .init("header", Self.text(step.header)),
            .init("callbacks", .array(callbacks)),
        ])
    }

    private func call(_ call: JourneyCall) -> JSONValue {
        let flow = call.flow
        return .object([
            .init("flow", .string(FlowID(flow.id).description)), .init("action", Self.text(flow.text(.action))),
            .init("at_ms", at(flow)), .init("duration_ms", .integer(max(0, flow[.duration]))),
            .init("status", Self.status(of: flow)), .init("error", Self.text(flow.text(.proxyError))),
            .init("with", Self.text(call.given?.text)),
            .init("won", .array(call.won.map { .string($0.alias.text) })),
        ])
    }

    private func token(_ token: JourneyToken) -> JSONValue {
        .object([
            .init("kind", .string(token.kind.rawValue)), .init("alias", .string(token.alias.text)),
            .init("flow", .string(FlowID(token.flow.id).description)), .init("at_ms", at(token.flow)),
        ])
    }

    private static func resource(_ resource: JourneyResource) -> JSONValue {
        .object([
            .init("origin", .string(resource.origin)),
            .init("first", .string(FlowID(resource.flow.id).description)),
            .init("requests", .integer(resource.requests)), .init("paths", .integer(resource.pathCount)),
            .init(
                "statuses",
                .array(
                    resource.statuses.map {
                        .object([
                            .init("status", $0.status == 0 ? .null : .integer($0.status)),
                            .init("count", .integer($0.count)),
                        ])
                    })),
        ])
    }

    private var from: JSONValue {
        guard let origin = journey.origin else { return .null }
        return .object([.init("session", .string(origin.session.text)), .init("journey", Self.id(origin.journey))])
    }

    private static func request(_ flow: PackedFlow) -> JSONValue {
        .object([
            .init("flow", .string(FlowID(flow.id).description)), .init("method", .string(flow.text(.method) ?? "")),
            .init("url", .string(flow.url)), .init("status", status(of: flow)),
        ])
    }
}
