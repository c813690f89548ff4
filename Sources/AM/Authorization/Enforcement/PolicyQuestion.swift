internal import Formats
public import HTTPCodec
public import Interception

/// The question to AM before a request goes out to a resource without a Gateway. It is a regular policy evaluation
/// (docs/protocol.md#policy-evaluations).
public struct PolicyQuestion: Sendable {
    /// The reason why AM cannot be asked, as one sentence.
    public struct Refusal: Error, Equatable, Sendable {
        public var reason: String
    }

    /// The resource name for AM.
    public let resource: String
    /// The action that the decision has to allow.
    public let method: String
    /// The user's session.
    public let subject: SessionSource
    public private(set) var head: RequestHead
    public private(set) var body: [UInt8]
    /// True if the app presented a transaction id with the request.
    public let showsTransaction: Bool
    /// Inputs of the decision besides session, resource and action.
    private let circumstances: [String]

    /// - Parameters:
    /// - request: the request as it would go out.
    /// - caller: the session to ask with; nil for the user's own.
    /// - transaction: the id that the app presented.
    /// - address: the client's address.
    public init(
        about request: RequestHead, as subject: SessionSource, caller: SessionSource?, transaction: String? = nil,
        address: String? = nil, _ policy: AuthorizationPolicy, _ enforcement: Enforcement
    ) throws(Refusal) {
        let own = Self.parameter(policy)
        do throws(AskedResource.Refusal) {
            resource = try AskedResource.name(of: request, withoutQuery: !enforcement.includesQuery, except: own)
        } catch {
            throw Refusal(reason: error.reason)
        }
        method = request.methodText
        self.subject = subject
        showsTransaction = transaction != nil
        var environment = enforcement.environment.map { JSONValue.Member($0.name, .strings($0.values)) }
        if enforcement.tellsAddress, let address { environment.append(.init("IP", .strings([address]))) }
        let told = JSONValue.object(environment)
        if let transaction { environment.append(.init("TxId", .strings([transaction]))) }
        var question: JSONValue = [
            "resources": .strings([resource]), "application": .string(enforcement.application),
            "subject": ["ssoToken": .string(subject.token)],
        ]
        if !environment.isEmpty { question["environment"] = .object(environment) }
        body = Array(question.serialized.utf8)
        let realm = enforcement.realm ?? policy.server.realms.first ?? "/"
        let caller = caller ?? subject
        do throws(HTTPFault) {
            head = try Self.head(realm, caller, policy.server)
        } catch {
            throw Refusal(reason: "the URL of AM's policies cannot be made: \(error.explanation)")
        }
        // AM chooses the wording of its prompts by these in a step-up
        for name in ["User-Agent", "Accept-Language"] {
            for value in request.fields.values(named: name) where FieldSyntax.isValue(value) {
                head.fields.add(name, value)
            }
        }
        circumstances = [policy.server.url, realm, enforcement.application, told.serialized]
    }

    private static func head(
        _ realm: String, _ caller: SessionSource, _ server: AuthorizationServer
    ) throws(HTTPFault) -> RequestHead {
        var head = try RequestHead(
            method: "POST", url: "\(server.url)/json\(Realm.urlPath(realm))/policies?_action=evaluate")
        head.fields.add("Accept", "application/json")
        head.fields.add("Accept-API-Version", "protocol=1.0,resource=2.1")
        head.fields.add("Content-Type", "application/json")
        head.fields.add("X-Requested-With", "forgerock-sdk")
        head.fields.add("Cookie", cookies(of: caller, server))
        return head
    }

    private static func cookies(of caller: SessionSource, _ server: AuthorizationServer) -> String {
        var cookies = CookieText("\(server.cookie)=\(caller.token)")
        if let affinity = caller.affinity { cookies.set(SessionSource.affinityCookie, affinity) }
        return cookies.text
    }

    /// Replaces the session that asks.
    public mutating func ask(as caller: SessionSource, _ server: AuthorizationServer) {
        head.fields.set("Cookie", Self.cookies(of: caller, server))
    }

    /// The query parameter that presents a transaction. It belongs to the enforcement point and not to the resource.
    private static func parameter(_ policy: AuthorizationPolicy) -> String? {
        if case .query(let name) = policy.presentToGateway { name } else { nil }
    }

    /// Replaces the question by the one that a step-up repeats.
    public mutating func repeated(as head: RequestHead, _ body: [UInt8]) {
        self.head = head
        self.body = body
    }

    /// Input of a digest that identifies the question, independent of the session.
    public var bytes: [UInt8] {
        JSONValue.strings(circumstances + [resource, method]).serialized.utf8.map { $0 }
    }

    public var call: ServerCall {
        ServerCall(
            head: head, body: body, number: 1, action: .evaluatePolicy, payload: nil, carriesAnswers: false)
    }
}
