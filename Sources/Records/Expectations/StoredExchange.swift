internal import Formats
internal import HTTPCodec
internal import Interception
public import Journal

/// A stored flow as conditions and rules read it: what the app sent, and what it received.
public struct StoredExchange {
    public let flow: PackedFlow
    private var recorded: RecordedExchange?
    private var isRead = false

    init(_ flow: PackedFlow) { self.flow = flow }

    // MARK: conditions

    /// False if the request cannot be read, or a body that decides is not stored whole.
    mutating func fits(_ condition: RecordedCondition) -> Bool {
        read()
        guard var exchange = recorded else { return false }
        // moved, so that the read bodies stay with it
        recorded = nil
        defer { recorded = exchange }
        return condition.holds(for: &exchange)
    }

    mutating func explain(_ condition: RecordedCondition) -> (because: String, misses: [String]) {
        read()
        guard var exchange = recorded else { return ("the request cannot be read", []) }
        recorded = nil
        defer { recorded = exchange }
        return condition.explain(&exchange)
    }

    private mutating func read() {
        guard !isRead else { return }
        isRead = true
        guard let request = FlowMessage(flow, .request), let head = Self.head(request) else { return }
        let response = FlowMessage(flow, .response)
        let (tree, type) = (flow.text(.tree), flow.text(.type))
        recorded = RecordedExchange(
            head, request.isCut ? nil : Array(request.body), response.map(Self.head),
            response.flatMap { $0.isCut ? nil : Array($0.body) },
            Classification(
                action: action, payload: tree == nil && type == nil ? nil : ActionPayload(tree: tree, type: type),
                realm: flow.text(.realm), evidence: "", isOwn: flow[.parent] != 0),
            flow.text(.proxyError).flatMap { OriginFault(token: $0) })
    }

    private static func head(_ message: FlowMessage) -> RequestHead? {
        // in a stored URL, # begins the number of an alias
        let url = message.url.utf8.split(separator: 0x23, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }.joined(separator: "%23")
        let isTunnel = message.flow[.scheme] == 0
        guard var head = try? RequestHead(method: message.method, url: isTunnel ? "https://\(url)/" : url) else {
            return nil
        }
        add(message, to: &head.fields)
        return head
    }

    private static func head(_ message: FlowMessage) -> ResponseHead {
        var head = ResponseHead(status: message.status, reason: "")
        add(message, to: &head.fields)
        return head
    }

    private static func add(_ message: FlowMessage, to table: inout FieldTable) {
        for field in message.fields.list where !ASCII.equal(field.name, "host") { table.add(field.name, field.value) }
    }
}

/// What rules read.
extension StoredExchange {
    var action: Action? { flow.text(.action).map { Action(rawValue: $0) } }
    var status: Int { flow[.status] }
    var isDone: Bool { (200..<300).contains(status) }
    var id: FlowID { FlowID(flow.id) }

    /// Milliseconds since 1970.
    var began: Int { flow[.began] }
    var ended: Int { flow[.began] + max(0, flow[.duration]) }

    /// A parameter of the request, in its query or its form.
    func parameter(_ name: String) -> String? { query[name] ?? form(name) }

    func form(_ name: String) -> String? {
        let fields = FieldLines(flow[.request])
        guard fields.text("content-type").flatMap({ MediaType($0) })?.isForm == true else { return nil }
        return QueryText(String(decoding: flow[.requestBody], as: UTF8.self))[name]
    }

    private var query: QueryText {
        let target = flow.text(.target) ?? ""
        guard let mark = target.utf8.firstIndex(of: 0x3F) else { return QueryText("") }
        return QueryText(target[target.utf8.index(after: mark)...])
    }

    /// A member of the request's or the response's JSON.
    func member(_ name: String, of part: FlowPart) -> JSONValue? {
        flow.isEmpty(part) ? nil : try? JSONValue.member(name, of: Array(flow[part]).span)
    }

    /// Where the response sends the app to.
    var location: String? { FieldLines(flow[.response]).text("location") }

    /// A parameter in the query or the fragment of that URL.
    func locationParameter(_ name: String) -> String? {
        guard let location, let start = location.utf8.firstIndex(where: { $0 == 0x3F || $0 == 0x23 }) else {
            return nil
        }
        return QueryText(location[location.utf8.index(after: start)...])[name]
    }
}
