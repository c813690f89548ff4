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
        return [
            "id": .string(journey.id.description), "sequence": .integer(flow[.sequence]),
            "began": .string(FlowTime(flow).text), "duration_ms": .integer(journey.duration),
            "am_ms": .integer(journey.atServer), "app_ms": .integer(journey.pauses),
            "outcome": .string(journey.outcome(at: now).rawValue), "reason": .optional(journey.reason),
            "client": .string(flow.text(.client) ?? ""), "user": .optional(flow.text(.user)),
            "login": .optional(journey.login), "realm": .optional(flow.text(.realm)),
            "tree": .optional(flow.text(.tree)), "type": .optional(flow.text(.type)),
            "by": .string(journey.parent == nil ? "app" : "usher"), "parent": Self.id(journey.parent),
            "complete": .bool(!journey.lacksBeginning), "session": .optional(journey.session?.text),
            "steps": .integer(journey.stepCount), "calls": .integer(journey.calls.count + surplus.calls),
            "tokens": .integer(journey.tokens.count + surplus.tokens), "origins": .integer(journey.resources.count),
            "requests": .integer(requests), "ended_by": Self.id(journey.end.map { FlowID($0.id) }),
        ]
    }

    private static func id(_ id: FlowID?) -> JSONValue { id.map { .string($0.description) } ?? .null }

    // MARK: complete journeys

    private static let status = ControlShape.optional(.integer(100...999))
    private static let callbackShape = ControlShape.object([
        "type": .text, "prompt": .text,
        "answer": .described("The answer. Aliases replace secrets.", .optional(.text)),
        "choices": .described("The labels of a choice.", .list(.text)),
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
        return [
            "journey": listed, "steps": .array(journey.steps.indices.map(step)),
            "calls": .array(journey.calls.map(call)), "tokens": .array(journey.tokens.map(token)),
            "resources": .array(journey.resources.map(Self.resource)), "from": from,
            "stepped_up_by": .array(journey.successors.map { .string($0.description) }),
            "for": book.parent(of: journey).map(Self.request) ?? .null,
            "left_out": [
                "steps": .integer(surplus.steps), "calls": .integer(surplus.calls), "tokens": .integer(surplus.tokens),
                "requests": .integer(surplus.requests),
            ],
            "flows_lost": .bool(book.hasLost),
        ]
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
                .init("answer", .optional(callback.answer)), .init("choices", .strings(callback.choices)),
            ])
        }
        return [
            "flow": .string(FlowID(flow.id).description), "action": .optional(flow.text(.action)), "at_ms": at(flow),
            "duration_ms": .integer(max(0, flow[.duration])), "am_ms": .integer(step.atServer),
            "pause_ms": .integer(step.pause), "status": Self.status(of: flow),
            "ending": .string(Self.word(step.ending)), "reason": .optional(step.reason),
            "repeated": .bool(step.isRepeated), "attempts": .integer(flow[.attempts]), "stage": .optional(step.stage),
            "header": .optional(step.header), "callbacks": .array(callbacks),
        ]
    }

    private func call(_ call: JourneyCall) -> JSONValue {
        let flow = call.flow
        return [
            "flow": .string(FlowID(flow.id).description), "action": .optional(flow.text(.action)), "at_ms": at(flow),
            "duration_ms": .integer(max(0, flow[.duration])), "status": Self.status(of: flow),
            "error": .optional(flow.text(.proxyError)), "with": .optional(call.given?.text),
            "won": .array(call.won.map { .string($0.alias.text) }),
        ]
    }

    private func token(_ token: JourneyToken) -> JSONValue {
        [
            "kind": .string(token.kind.rawValue), "alias": .string(token.alias.text),
            "flow": .string(FlowID(token.flow.id).description), "at_ms": at(token.flow),
        ]
    }

    private static func resource(_ resource: JourneyResource) -> JSONValue {
        [
            "origin": .string(resource.origin), "first": .string(FlowID(resource.flow.id).description),
            "requests": .integer(resource.requests), "paths": .integer(resource.pathCount),
            "statuses": .array(
                resource.statuses.map {
                    ["status": $0.status == 0 ? .null : .integer($0.status), "count": .integer($0.count)]
                }),
        ]
    }

    private var from: JSONValue {
        guard let origin = journey.origin else { return .null }
        return ["session": .string(origin.session.text), "journey": Self.id(origin.journey)]
    }

    private static func request(_ flow: PackedFlow) -> JSONValue {
        [
            "flow": .string(FlowID(flow.id).description), "method": .string(flow.text(.method) ?? ""),
            "url": .string(flow.url), "status": status(of: flow),
        ]
    }
}
