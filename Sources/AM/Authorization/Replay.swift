internal import Formats
public import HTTPCodec
internal import Interception

/// The results of an exchange's step-ups, and how the repeated request presents them (docs/protocol.md#replay). Each attempt
/// starts from the client's request, so the results accumulate.
public struct Replay: Sendable {
    /// A request to send again.
    public struct Request: Sendable {
        public var head: RequestHead
        public var body: [UInt8]
    }

    /// The reason why the request cannot be changed as needed, as one sentence.
    public struct Refusal: Error, Equatable, Sendable {
        public var reason: String
    }

    private let policy: AuthorizationPolicy
    private let resource: AuthorizationPolicy.Resource
    /// The session as the client sent it.
    private let original: SessionSource
    /// The current session; the next step-up uses it.
    public private(set) var session: SessionSource
    private var transaction: (id: String, presentation: AuthorizationPolicy.Presentation)?
    private var tree: String?
    /// The presentation for the last advice; nil before the first.
    private var style: AuthorizationPolicy.Presentation?
    private var cookieLines: [String] = []
    /// The client's id token, if it is to be presented.
    private let idToken: String?

    public init(
        policy: AuthorizationPolicy, resource: AuthorizationPolicy.Resource, session: SessionSource,
        idToken: String? = nil
    ) {
        self.idToken = policy.showsIDToken ? idToken : nil
        self.policy = policy
        self.resource = resource
        original = session
        self.session = session
    }

    /// Adds the result of a step-up. A transaction id serves one access, so a later id replaces an earlier one.
    public mutating func absorb(_ advice: Advice, _ outcome: StepUp.Outcome) {
        let style = policy.presentation(of: advice, at: resource)
        self.style = style
        transaction = advice.transactionId.map { ($0, style) }
        if advice.source == .body, case .header = style, let value = advice.tree { tree = value }
        take(outcome)
    }

    /// Takes over the new session of a step-up, if there is one.
    public mutating func take(_ outcome: StepUp.Outcome) {
        if let token = outcome.session {
            session.token = token
            session.affinity = outcome.affinity
            cookieLines = outcome.setCookieLines
        }
    }

    /// The reason why the request cannot be sent again after a step-up for this advice, as one sentence; nil if it can. Checked
    /// before AM is asked, so that no approval is wasted.
    public func obstacle(to advice: Advice, _ head: RequestHead, body: [UInt8]) -> String? {
        var trial = self
        trial.absorb(advice, StepUp.Outcome(session: advice.isUpgrade ? "\(session.token)-" : nil))
        do throws(Refusal) {
            _ = try trial.request(head, body: body)
            return nil
        } catch {
            return error.reason
        }
    }

    private var isNewSession: Bool { !original.isSame(as: session.token) }

    // MARK: the request

    /// The request to send: the client's bytes, changed only by the transaction's id, the tree and a new session.
    public func request(_ head: RequestHead, body: [UInt8]) throws(Refusal) -> Request {
        var out = Request(head: head, body: body)
        if policy.isPolicyEvaluation(head) {
            try changeQuestion(&out)
        } else {
            if let transaction { try Self.present(transaction.id, as: transaction.presentation, on: &out.head) }
            if let tree { try Self.setField("X-Tree", tree, on: &out.head) }
            if let idToken { try presentIDToken(idToken, on: &out.head) }
        }
        if isNewSession, original.carrier != .provided { try replaceSession(&out.head) }
        return out
    }

    static func present(
        _ id: String, as style: AuthorizationPolicy.Presentation, on head: inout RequestHead
    ) throws(Refusal) {
        switch style {
        case .header(let name): try setField(name, id, on: &head)
        case .query(let name):
            // the policy's resource may include the query, so its other bytes must not change
            guard String(validating: head.fields.bytes[head.target.whole.indices], as: UTF8.self) != nil else {
                throw Refusal(reason: "the URL has bytes that are not UTF-8")
            }
            var query = QueryText(head.query ?? "")
            query.removeAll { $0 == name }
            query.add(name, id)
            do throws(HTTPFault) {
                try head.setPathAndQuery("\(head.path)?\(query.text)")
            } catch {
                throw Refusal(reason: "the URL of the replay is malformed: \(error.explanation)")
            }
        }
    }

    /// Presents the id token in the same way as the transaction's id.
    private func presentIDToken(_ token: String, on head: inout RequestHead) throws(Refusal) {
        switch style {
        case .query: try Self.present(token, as: .query("_idtoken"), on: &head)
        case .header: try Self.setField("X-IdToken", token, on: &head)
        case nil: break
        }
    }

    private static func setField(_ name: String, _ value: String, on head: inout RequestHead) throws(Refusal) {
        guard FieldSyntax.isValue(value) else {
            throw Refusal(reason: "the value of \(name) holds a control character")
        }
        head.fields.set(name, value)
    }

    /// Sets the transaction's id and the new session of the subject in a policy evaluation.
    private func changeQuestion(_ request: inout Request) throws(Refusal) {
        if let transaction { try Self.askForTransaction(transaction.id, &request) }
        if isNewSession, original.carrier == .subject {
            try Self.set("/subject/ssoToken", to: .string(session.token), in: &request)
        }
    }

    /// Sets a transaction's id in the environment of a policy evaluation and replaces a stale one.
    static func askForTransaction(_ id: String, _ request: inout Request) throws(Refusal) {
        try set("/environment/TxId", to: .array([.string(id)]), in: &request)
    }

    /// The limit in bytes by which a policy evaluation may grow.
    private static let roomForQuestion = 64 << 10

    /// Edits the JSON of a policy evaluation in place; all other bytes stay.
    private static func set(_ place: String, to value: JSONValue, in request: inout Request) throws(Refusal) {
        var text = JSONText(request.body)
        guard let pointer = JSONPointer(place), (try? JSONValue(parsing: request.body))?.members != nil else {
            throw Refusal(reason: "the body of the policy evaluation is not a JSON object")
        }
        do throws(JSONEditFault) {
            // an environment that is no object is invalid, so it is replaced
            if let parent = JSONPointer("/environment"), place.hasPrefix("/environment/"),
                let found = try? text.values(at: parent), found.contains(where: { $0.members == nil })
            {
                try text.set(parent, to: Array("{}".utf8), bound: request.body.count + roomForQuestion)
            }
            try text.set(pointer, to: Array(value.serialized.utf8), bound: request.body.count + roomForQuestion)
        } catch {
            throw Refusal(reason: "the body of the policy evaluation \(error.explanation)")
        }
        request.body = text.bytes
        if request.head.fields.contains(.contentLength) {
            request.head.fields.set("Content-Length", String(request.body.count))
        }
    }

    /// Replaces the old session by the new one. The caller of a policy evaluation keeps its own session.
    private func replaceSession(_ head: inout RequestHead) throws(Refusal) {
        let name = policy.server.cookie
        for index in head.fields.slots.indices where head.fields.isNamed(index, "Cookie") {
            var cookies = CookieText(head.fields.value(index))
            guard let value = cookies[name], original.carrier != .subject || value == original.token else { continue }
            cookies.set(name, session.token)
            if let affinity = session.affinity, cookies[SessionSource.affinityCookie] != nil {
                cookies.set(SessionSource.affinityCookie, affinity)
            }
            head.fields.setValue(index, cookies.text)
        }
        guard let value = head.fields[name], original.carrier != .subject || value == original.token else { return }
        try Self.setField(name, session.token, on: &head)
    }

    /// Another request of the client, with the current session.
    public func inSession(_ head: RequestHead) throws(Refusal) -> RequestHead {
        var head = head
        if isNewSession { try replaceSession(&head) }
        return head
    }

    // MARK: the client

    /// The `Set-Cookie` values that give the client its new session. Empty if the session is unchanged or was not the client's
    /// own.
    /// - Parameter head: the request as the client sent it.
    public func cookiesForClient(_ head: RequestHead) -> [String] {
        guard isNewSession, original.carrier != .provided else { return [] }
        if original.carrier == .subject {
            let own = head.fields.values(named: "Cookie").compactMap { CookieText($0)[policy.server.cookie] }.first
            guard (own ?? head.fields[policy.server.cookie]) == original.token else { return [] }
        }
        var lines = cookieLines.map { Self.fitted($0, to: head.host) }
        if !lines.contains(where: { SetCookie($0)?.name == policy.server.cookie }) {
            lines.insert(ownLine(beside: lines, head), at: 0)
        }
        return lines
    }

    /// A `Set-Cookie` line for a session that AM gave in the body only. It is HttpOnly, and its SameSite is that of AM's other
    /// cookies.
    private func ownLine(beside lines: [String], _ head: RequestHead) -> String {
        var line = "\(policy.server.cookie)=\(session.token); Path=/; HttpOnly"
        if head.target.scheme == .https { line += "; Secure" }
        if let site = lines.compactMap(Self.sameSite).first { line += "; SameSite=\(site)" }
        return line
    }

    private static func sameSite(_ line: String) -> String? {
        for part in line.split(separator: ";").dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
            if pair.count == 2, ASCII.equal(pair[0], "samesite"), pair[1].utf8.allSatisfy(ASCII.isAlpha) {
                return pair[1]
            }
        }
        return nil
    }

    /// The line without a Domain that does not cover the host. The client would drop the cookie (RFC 6265 §5.3) and keep an
    /// invalid session.
    private static func fitted(_ line: String, to host: String) -> String {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        let kept = parts.enumerated().filter { index, part in
            let text = ASCII.lowercased(String(part.filter { $0 != " " && $0 != "\t" }))
            guard index > 0, text.hasPrefix("domain=") else { return true }
            let domain = text.dropFirst(7).drop { $0 == "." }
            return domain == host || host.hasSuffix(".\(domain)")
        }
        return kept.map(\.element).joined(separator: ";")
    }
}
