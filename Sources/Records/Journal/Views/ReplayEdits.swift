internal import Formats
internal import HTTPCodec

/// Changes to the request of a flow before it is sent again. Its texts have the flow's aliases, as the journal shows them.
public struct ReplayEdits: Sendable {
    public var method: String?
    public var url: String?
    /// The fields in place of all recorded ones.
    public var fields: [(name: String, value: String)]?
    public var body: String?

    public init() {}

    private var isEmpty: Bool { method == nil && url == nil && fields == nil && body == nil }

    /// The flow with the changed request.
    func applied(to flow: PackedFlow) throws(ReplayDraft.Refusal) -> PackedFlow {
        guard !isEmpty else { return flow }
        if let method, method == "CONNECT" || !FieldSyntax.isName(method) {
            throw Self.refusal("its method is no method for a URL")
        }
        let place = try url.map(Self.place)
        var packer = FlowPacker()
        packer.setNumbers(of: flow)
        if let place {
            packer.set(.scheme, place.scheme == .https ? 2 : 1)
            packer.set(.port, Int(place.port))
        }
        if body != nil { packer.set(.flags, flow.flags.subtracting(.requestBodyCut).rawValue) }
        let lines = try fields.map(Self.lines)
        for part in FlowPart.allCases {
            switch part {
            case .method: packer.set(part, method ?? flow.text(.method) ?? "GET")
            case .authority: packer.set(part, place?.host ?? flow.text(.authority) ?? "")
            case .target: packer.set(part, place?.target ?? flow.text(.target) ?? "/")
            case .request: packer.set(part, lines ?? Array(flow[part]))
            case .requestBody: packer.set(part, body.map { Array($0.utf8) } ?? Array(flow[part]))
            default: packer.set(part, flow[part])
            }
        }
        guard let edited = PackedFlow(packer.finish()) else { throw Self.refusal("it cannot be changed") }
        try Self.mustKeepSecrets(edited, of: flow)
        return edited
    }

    /// Secrets go only where they went before.
    private static func mustKeepSecrets(_ edited: PackedFlow, of flow: PackedFlow) throws(ReplayDraft.Refusal) {
        let known = Set(ReplayDraft.secrets(of: flow).map(\.alias))
        let used = ReplayDraft.secrets(of: edited).map(\.alias)
        if let foreign = used.first(where: { !known.contains($0) }) {
            throw refusal("\(foreign.text) is an alias of another flow; write the value itself")
        }
        let isSame =
            edited[.scheme] == flow[.scheme] && edited[.port] == flow[.port] && edited[.authority] == flow[.authority]
        guard used.isEmpty || isSame else {
            throw refusal(
                "its secrets may go only to \(flow.text(.authority) ?? ""); remove \(used.map(\.text).joined(separator: ", "))"
            )
        }
    }

    /// An aliased URL has a `#`, so only its beginning is read as a URL.
    private static func place(
        _ url: String
    ) throws(ReplayDraft.Refusal) -> (scheme: Target.Scheme, host: String, port: UInt16, target: String) {
        guard let start = url.firstRange(of: "://")?.upperBound else {
            throw refusal("its URL needs http:// or https://")
        }
        let end = url[start...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        let rest = url[end...]
        do throws(HTTPFault) {
            let head = try RequestHead(method: "GET", url: "\(url[..<end])/")
            return (head.target.scheme, head.host, head.target.port, rest.hasPrefix("/") ? String(rest) : "/\(rest)")
        } catch {
            throw refusal("its URL cannot be used: \(error.explanation)")
        }
    }

    private static func lines(
        _ fields: [(name: String, value: String)]
    ) throws(ReplayDraft.Refusal) -> [UInt8] {
        var out: [UInt8] = []
        for (name, value) in fields {
            guard FieldSyntax.isName(name), FieldSyntax.isValue(value) else {
                throw refusal(
                    "the header \(String(reflecting: name.prefix(80))) has a character that headers cannot have")
            }
            out += "\(name): \(value)\r\n".utf8
        }
        return out
    }

    private static func refusal(_ words: String) -> ReplayDraft.Refusal {
        ReplayDraft.Refusal(description: words, canBeForced: false)
    }
}
