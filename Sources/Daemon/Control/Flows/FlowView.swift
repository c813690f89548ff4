internal import Formats
internal import Interception
internal import Journal

/// A flow as JSON: a row of a list, or complete with its messages and calls.
struct FlowView {
    let flow: PackedFlow

    init(_ flow: PackedFlow) { self.flow = flow }

    // MARK: rows of a list

    static let listedShape: KeyValuePairs<String, ControlShape> = [
        "id": .text, "sequence": .count, "began": .text, "duration_ms": .count, "client": .text,
        "user": .optional(.text), "session": .optional(.text), "action": .optional(.text), "realm": .optional(.text),
        "tree": .optional(.text),
        "type": .optional(.text), "method": .text, "url": .text, "status": .optional(.integer(100...999)),
        "content_type": .optional(.text), "error": .optional(.text), "request_bytes": .count,
        "response_bytes": .count, "attempts": .count,
        "marks": .list(.choice(FlowMark.allCases.map(\.rawValue))),
        "interceptors": .described(
            "The interceptors that had an effect, with their effects.",
            .list(.object(["name": .text, "did": .list(.choice(Deed.allCases.map(\.rawValue)))]))),
        "parent": .optional(.text),
    ]

    var listed: JSONValue {
        [
            "id": .string(FlowID(flow.id).description), "sequence": .integer(flow[.sequence]),
            "began": .string(FlowTime(flow).text), "duration_ms": .integer(max(0, flow[.duration])),
            "client": .string(flow.text(.client) ?? ""), "user": .optional(flow.text(.user)),
            "session": .optional(flow.text(.session)), "action": .optional(flow.text(.action)),
            "realm": .optional(flow.text(.realm)),
            "tree": .optional(flow.text(.tree)), "type": .optional(flow.text(.type)),
            "method": .string(flow.text(.method) ?? ""), "url": .string(flow.url),
            "status": flow[.status] == 0 ? .null : .integer(flow[.status]),
            "content_type": .optional(FieldLines(flow[.response]).text("content-type")),
            "error": .optional(flow.text(.proxyError)), "request_bytes": .integer(flow[.requestBytes]),
            "response_bytes": .integer(flow[.responseBytes]), "attempts": .integer(flow[.attempts]),
            "marks": .strings(FlowMark.of(flow).map(\.rawValue)),
            "interceptors": .array(EventSummary(flow).all.map(Self.doing)),
            "parent": flow[.parent] == 0 ? .null : .string(Self.id(flow[.parent])),
        ]
    }

    private static func doing(_ doing: (interceptor: String, deeds: [String])) -> JSONValue {
        ["name": .string(doing.interceptor), "did": .strings(doing.deeds)]
    }

    private static func id(_ number: Int) -> String { FlowID(UInt64(bitPattern: Int64(number))).description }

    // MARK: complete flows

    private static let fieldShape = ControlShape.object(["name": .text, "value": .text])
    private static let bodyShape = ControlShape.object([
        "bytes": .described("The size on the wire. The stored body is decoded.", .count),
        "cut": .described("true: the body was longer than what is stored.", .flag), "text?": .text, "base64?": .text,
    ])
    private static let requestShape = ControlShape.object([
        "method": .text, "url": .text, "version": .text, "fields": .list(fieldShape), "body": bodyShape,
    ])
    private static let responseShape = ControlShape.object([
        "status": .integer(100...999), "version": .text, "fields": .list(fieldShape), "body": bodyShape,
    ])
    private static let timingShape = ControlShape.object([
        "waiting": .optional(.count), "resolving": .optional(.count), "connecting": .optional(.count),
        "securing": .optional(.count), "answering": .optional(.count), "receiving": .optional(.count),
    ])
    private static let eventShape = ControlShape.object([
        "at_ms": .integer(.min ... .max), "event": .text, "text": .text, "interceptor?": .text,
        "did?": .choice(Deed.allCases.map(\.rawValue)), "phase?": .text,
    ])

    static let wholeShape = ControlShape.object([
        "flow": .object(listedShape), "request": requestShape,
        "sent": .described("The request as sent, if it differs.", .optional(requestShape)),
        "answer": .described("The response as received, if the delivered one differs.", .optional(responseShape)),
        "response": .optional(responseShape),
        "timing_ms": .described("The time of each phase, in milliseconds.", timingShape), "events": .list(eventShape),
        "calls": .described(
            "Usher's own calls for this flow, and its earlier attempts.", .list(.any)),
    ])

    /// - Parameters:
    /// - calls: Usher's calls by the flows that caused them.
    /// - depth: the limit of nested calls.
    func whole(_ calls: [Int: [PackedFlow]], depth: Int = 3) -> JSONValue {
        let own = depth > 0 ? calls[flow[.id]] ?? [] : []
        let inner = own.map { FlowView($0).whole(calls, depth: depth - 1) }
        return [
            "flow": listed, "request": request(.request), "sent": request(.sent), "answer": response(.answer),
            "response": response(.response), "timing_ms": timing, "events": events, "calls": .array(inner),
        ]
    }

    /// The complete flow with its stored secrets.
    /// - Parameter secrets: nil if they are not requested.
    func shown(_ calls: [Int: [PackedFlow]], _ secrets: SecretSource?, _ shelf: (any FlowShelf)?) -> JSONValue {
        guard let secrets else { return whole(calls) }
        func revealed(_ flow: PackedFlow) -> PackedFlow { flow.revealed { secrets($0, shelf) } }
        return FlowView(revealed(flow)).whole(calls.mapValues { $0.map(revealed) })
    }

    private func request(_ side: FlowMessage.Side) -> JSONValue {
        guard let message = FlowMessage(flow, side) else { return .null }
        return [
            "method": .string(message.method), "url": .string(message.url), "version": .string(message.version),
            "fields": Self.fields(message), "body": Self.body(message),
        ]
    }

    private func response(_ side: FlowMessage.Side) -> JSONValue {
        guard let message = FlowMessage(flow, side) else { return .null }
        return [
            "status": .integer(message.status), "version": .string(message.version), "fields": Self.fields(message),
            "body": Self.body(message),
        ]
    }

    private static func fields(_ message: FlowMessage) -> JSONValue {
        .array(
            message.fields.list.map {
                ["name": .string($0.name), "value": .string($0.value)]
            })
    }

    private static func body(_ message: FlowMessage) -> JSONValue {
        var members: JSONValue = ["bytes": .integer(message.bodyBytes), "cut": .bool(message.isCut)]
        if message.isUnread { members["comment"] = .string(FlowMessage.unread) }
        if let text = message.text {
            if !text.isEmpty { members["text"] = .string(text) }
        } else {
            members["base64"] = .string(Base64.encode(message.body))
        }
        return members
    }

    private var timing: JSONValue {
        let time = FlowTime(flow)
        return [
            "waiting": .optional(time.waited), "resolving": .optional(time.resolving),
            "connecting": .optional(time.connecting), "securing": .optional(time.securing),
            "answering": .optional(time.answering), "receiving": .optional(time.receiving),
        ]
    }

    private var events: JSONValue {
        guard !flow.isEmpty(.events) else { return [] }
        return (try? JSONValue(parsing: Array(flow[.events]))) ?? []
    }
}

/// The flags shown in a list.
enum FlowMark: String, CaseIterable {
    /// Interceptors or a step-up changed the message.
    case request_changed, response_changed
    /// A step-up or a login by Usher.
    case step_up
    /// An interceptor broke the response or its end.
    case fault
    /// An interceptor delayed or throttled it.
    case slowed
    /// Usher sent the response itself.
    case local
    /// The client did not receive the whole response.
    case incomplete
    case tunnel
    /// A call by Usher.
    case call
    /// One attempt of a request that was sent again.
    case attempt

    static func of(_ flow: PackedFlow) -> [FlowMark] {
        let flags: [(FlowFlags, FlowMark)] = [
            (.requestEdited, .request_changed), (.responseEdited, .response_changed), (.steppedUp, .step_up),
            (.faulted, .fault), (.slowed, .slowed),
            (.local, .local), (.incomplete, .incomplete), (.tunnel, .tunnel),
        ]
        let marks = flags.filter { flow.flags.contains($0.0) }.map(\.1)
        if flow[.parent] == 0 { return marks }
        return marks + [flow.flags.contains(.attempt) ? .attempt : .call]
    }
}
