internal import Formats
internal import HTTPCodec

/// `POST json/…/policies?_action=evaluate`: decisions for applications that enforce them themselves.
extension SandboxServer {
    private static let applications: Set<String> = ["iPlanetAMWebAgentService", "shop"]
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// The time to live of a decision that never ages, in milliseconds since 1970.
    private static let forever = Int.max

    mutating func evaluatePolicies(_ request: SandboxRequest, realm: String, _ now: Int) -> SandboxResponse {
        guard request.head.method == .post, request.query["_action"] == "evaluate" else {
            return .fault(501, "Not Supported", note: "an action that policies do not know")
        }
        guard let caller = session(of: request, now) else {
            return .fault(401, "Access Denied", note: "no session to ask with")
        }
        guard Directory.mayEvaluatePolicies(caller.user) else {
            return .fault(403, "Permission denied", note: "\(caller.user) may not ask for decisions")
        }
        guard let question = try? JSONValue(parsing: request.body), question.members != nil else {
            return .fault(400, "The request body is no JSON object")
        }
        guard let names = texts(question["resources"]), !names.isEmpty else {
            return .fault(400, "Invalid value resources")
        }
        guard Self.applications.contains(question["application"]?.text ?? "iPlanetAMWebAgentService") else {
            return .fault(400, "Invalid application", note: "no such policy set")
        }
        let environment = question["environment"]?.members ?? []
        guard environment.allSatisfy({ texts($0.value) != nil }) else {
            return .fault(400, "Invalid value environment")
        }
        let subject: Session
        if let asked = question["subject"] {
            guard let token = asked["ssoToken"]?.text, let found = sessions.find(token, now: now) else {
                return .fault(400, "Invalid value subject", note: "the subject has no living session")
            }
            subject = found
        } else {
            subject = caller
        }
        let id = environment.last { $0.name == "TxId" }.flatMap { texts($0.value)?.first }
        var decisions: [JSONValue] = []
        var seen: Set<String> = []
        for name in names where seen.insert(name).inserted {
            decisions.append(decision(for: name, subject, realm: realm, transaction: id, now))
        }
        return .json(200, .array(decisions), note: "\(decisions.count) decisions for \(subject.user)")
    }

    private func texts(_ value: JSONValue?) -> [String]? {
        guard let items = value?.items else { return nil }
        let texts = items.compactMap(\.text)
        return texts.count == items.count ? texts : nil
    }

    private mutating func decision(
        for name: String, _ subject: Session, realm: String, transaction id: String?, _ now: Int
    ) -> JSONValue {
        var actions = JSONValue.object([])
        var advices = JSONValue.object([])
        var ttl = 0
        if subject.realm == realm, let head = try? RequestHead(method: "GET", url: name),
            let protection = Protection(path: head.path)
        {
            let resource = ResourceName.normalized(head, keepsQuery: options.resourceIncludesQuery)
            switch decide(protection, resource: resource, method: nil, session: subject, transaction: id, now) {
            case .granted(let transaction):
                actions = .object(Self.methods.map { .init($0, .bool(true)) })
                ttl = transaction == nil ? Self.forever : 0
            case .advice(let advice):
                advices = advice.json
            }
        }
        return .record([
            "resource": .string(name), "actions": actions, "attributes": .object([]), "advices": advices,
            "ttl": .integer(ttl),
        ])
    }
}
