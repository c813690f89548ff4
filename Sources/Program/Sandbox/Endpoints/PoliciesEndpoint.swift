internal import Formats
internal import HTTPCodec

/// `POST json/…/policies?_action=evaluate`: decisions for applications that enforce them themselves.
struct PoliciesEndpoint {
    let directory: Directory

    private static let applications: Set<String> = ["iPlanetAMWebAgentService", "shop"]
    /// The `ttl` of a decision that never expires, in milliseconds since 1970.
    private static let forever = Int.max

    /// - Parameter oauth: checks an application's own token, which may replace a session.
    func answer(_ call: RESTCall, _ store: inout CoreTokenStore, _ oauth: AuthorizationServer) -> SandboxResponse {
        let request = call.request
        guard request.head.method == .post, request.query["_action"] == "evaluate" else {
            return .fault(501, "Not Supported", note: "unsupported action")
        }
        let caller = store.sessions.find(shownBy: request, now: call.now)
        let isService = oauth.isService(request, realm: call.realm, call.now)
        guard caller != nil || isService else {
            return .fault(401, "Access Denied", note: "no session and no token")
        }
        guard isService || Directory.mayEvaluatePolicies(caller?.user ?? "") else {
            return .fault(403, "Permission denied", note: "\(caller?.user ?? "") may not evaluate policies")
        }
        guard let question = try? JSONValue(parsing: request.body), question.members != nil else {
            return .fault(400, "The request body is not a JSON object")
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
            guard let token = asked["ssoToken"]?.text, let found = store.sessions.find(token, now: call.now)
            else { return .fault(400, "Invalid value subject", note: "the subject has no valid session") }
            subject = found
        } else if let caller {
            subject = caller
        } else {
            return .fault(400, "Invalid value subject", note: "the token has no session")
        }
        let id = environment.last { $0.name == "TxId" }.flatMap { texts($0.value)?.first }
        var decisions: [JSONValue] = []
        var seen: Set<String> = []
        let faults = Faults(request) ?? Faults()
        for name in names where seen.insert(name).inserted {
            decisions.append(decision(for: name, subject, transaction: id, faults, call, &store))
        }
        return .json(200, .array(decisions), note: "\(decisions.count) decisions for \(subject.user)")
    }

    private func texts(_ value: JSONValue?) -> [String]? {
        guard let items = value?.items else { return nil }
        let texts = items.compactMap(\.text)
        return texts.count == items.count ? texts : nil
    }

    private func decision(
        for name: String, _ subject: Session, transaction id: String?, _ faults: Faults, _ call: RESTCall,
        _ store: inout CoreTokenStore
    ) -> JSONValue {
        var actions = JSONValue.object([])
        var advices = JSONValue.object([])
        var ttl = 0
        if subject.realm == call.realm, let head = try? RequestHead(method: "GET", url: name),
            let protection = Protection(path: head.path, directory)
        {
            let resource = ResourceName.normalized(head)
            let decision = protection.decide(
                resource: resource, method: nil, session: subject, transaction: id, &store, call.now)
            // a method that is always denied is told as false, without an advice
            let denied = Protection.methods.filter { !protection.allows($0) }
            switch decision {
            case .granted(let transaction):
                actions = .object(Protection.methods.map { .init($0, .bool(!denied.contains($0))) })
                ttl = transaction == nil ? protection.holds.map { (call.now + $0) * 1000 } ?? Self.forever : 0
            case .denied:
                actions = .object(denied.map { .init($0, .bool(false)) })
                ttl = Self.forever
            case .advice(let advice):
                advices = faults.conditions(advice).json
            }
        }
        return [
            "resource": .string(name), "actions": actions, "attributes": [:], "advices": advices, "ttl": .integer(ttl),
        ]
    }
}
