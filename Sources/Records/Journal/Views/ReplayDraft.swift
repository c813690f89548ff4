internal import Formats
public import HTTPCodec

/// The request of a flow to send again, or the reason why that is not possible.
public struct ReplayDraft: Sendable {
    public struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        public let description: String
        /// True if the user may override it, although the replay usually fails.
        public let canBeForced: Bool
    }

    public let head: RequestHead
    public let body: [UInt8]
    /// True if it has a body, which may be empty.
    public let hasBody: Bool
    /// The id of the original flow.
    public let id: FlowID

    /// Fields of one connection or of the original framing.
    private static let dropped: Set<String> = [
        "host", "connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "content-length",
        "upgrade", "expect", "content-encoding",
    ]

    /// - Parameters:
    /// - edits: the changes to the recorded request.
    /// - isForced: true to send single-use secrets as well.
    /// - secret: returns the secret of an alias; nil if it is not stored.
    public init(
        _ recorded: PackedFlow, _ edits: ReplayEdits = ReplayEdits(), isForced: Bool,
        secret: @escaping (SecretAlias) -> [UInt8]?
    ) throws(Refusal) {
        var flow = recorded
        guard flow[.parent] == 0 else {
            let parent = FlowID(UInt64(bitPattern: Int64(flow[.parent])))
            throw Self.never(
                flow.flags.contains(.attempt)
                    ? "it is one attempt of several; replay the whole: usher replay \(parent)"
                    : "it is a call of Usher's own; replay the flow that it was made for: usher replay \(parent)")
        }
        guard flow[.scheme] != 0 else { throw Self.never("it is a tunnel: what went through it is not known") }
        flow = try edits.applied(to: flow)
        guard !flow.flags.contains(.requestBodyCut) else {
            throw Self.never("its body is not kept whole (journal.bodies says how much of one is)")
        }
        try Self.judge(flow, isForced, secret)
        id = FlowID(flow.id)
        let filling = AliasFilling(secret: secret)
        body = filling.filled(
            flow[.requestBody], .init(contentType: FieldLines(flow[.request]).text("content-type")))
        let framing = FieldLines(flow[.request])
        hasBody = !body.isEmpty || framing.value("content-length") != nil || framing.value("transfer-encoding") != nil
        do throws(HTTPFault) {
            head = try Self.head(flow, filling)
        } catch {
            throw Self.never("it cannot be written again: \(error.explanation)")
        }
    }

    private static func never(_ words: String) -> Refusal { Refusal(description: words, canBeForced: false) }

    // MARK: secrets

    private static func judge(
        _ flow: PackedFlow, _ isForced: Bool, _ secret: (SecretAlias) -> [UInt8]?
    ) throws(Refusal) {
        let secrets = secrets(of: flow)
        let spent = secrets.filter(\.isSpent)
        guard spent.isEmpty || isForced else {
            throw Refusal(
                description:
                    "it holds what is good for one use alone: \(words(spent)); --force sends it all the same",
                canBeForced: true)
        }
        let missing = secrets.filter { secret($0.alias) == nil }
        guard missing.isEmpty else {
            throw never(
                "it holds secrets, and the journal keeps none: \(words(missing)); usher flow \(FlowID(flow.id)) --curl has the request with what is to be filled in"
            )
        }
    }

    /// A secret of a request with its name.
    public struct Secret: Sendable {
        public let alias: SecretAlias
        /// The field, parameter, cookie or member; empty if unknown.
        public let name: String

        /// The names of single-use values of any kind.
        private static let once: Set<String> = [
            "dpop", "refresh_token", "client_assertion", "assertion", "device_code", "samlresponse", "suspendedid",
        ]
        /// They are new each time, and no server checks that.
        private static let harmless: Set<String> = ["state", "nonce"]

        public var isSpent: Bool {
            let name = ASCII.lowercased(name)
            switch alias.kind {
            case .code: return !Self.harmless.contains(name)
            case .authId, .oneTime, .transaction: return true
            case .session, .token, .password, .cookie, .secret: return Self.once.contains(name)
            }
        }
    }

    /// All secrets, each alias once.
    public static func secrets(of flow: PackedFlow) -> [Secret] {
        var secrets: [Secret] = []
        func add(_ places: [AliasScan.Place], field: String? = nil) {
            for place in places where !secrets.contains(where: { $0.alias == place.alias }) {
                let name = place.name.isEmpty ? field ?? "" : place.name
                secrets.append(Secret(alias: place.alias, name: name))
            }
        }
        add(AliasScan(flow[.target]).places)
        FieldLines(flow[.request]).forEach { name, value in
            add(AliasScan(value).places, field: String(decoding: name, as: UTF8.self))
            return true
        }
        add(AliasScan(flow[.requestBody]).places)
        return secrets
    }

    private static func words(_ secrets: [Secret]) -> String {
        secrets.map { $0.name.isEmpty ? $0.alias.text : "\($0.alias.text) (\($0.name))" }.joined(separator: ", ")
    }

    // MARK: filling in

    private static func head(
        _ flow: PackedFlow, _ filling: AliasFilling
    ) throws(HTTPFault) -> RequestHead {
        let url = filling.filled(Array(flow.url.utf8)[...], .percent)
        var head = try RequestHead(
            method: flow.text(.method) ?? "GET", url: String(decoding: url, as: UTF8.self))
        FieldLines(flow[.request]).forEach { name, value in
            let name = String(decoding: name, as: UTF8.self)
            guard !dropped.contains(ASCII.lowercased(name)) else { return true }
            head.fields.add(name, String(decoding: filling.filled(value, .plain), as: UTF8.self))
            return true
        }
        return head
    }
}
