internal import Formats
public import HTTPCodec

/// Decides which requests the policy covers and how they are replayed (docs/protocol.md#replay).
extension AuthorizationPolicy {
    /// The entry that covers a request; nil if its advice is left to the client.
    ///
    /// Never covered: OPTIONS (a preflight carries no session), CONNECT, protocol upgrades, and AM's own endpoints for
    /// authentication, sessions and OAuth, whose 401 has another meaning.
    public func resource(for head: RequestHead) -> Resource? {
        coverage(of: head).flatMap { $0.isEnforced ? nil : $0.resource }
    }

    /// Whether to ask the enforcement point for the header form. False if the client chose a form itself, or if the request
    /// cannot be replayed, because the header form is less useful to the client.
    public func offersHeader(on head: RequestHead, _ resource: Resource) -> Bool {
        offersHeader && resource.advice.contains(.header)
            && !head.fields.contains(.xAuthenticateResponse) && resource.replays(head.method, after: nil)
            && !isPolicyEvaluation(head)
    }

    /// The field that requests the header form.
    public static let offer = (name: "x-authenticate-response", value: "header")

    /// True if the client requested the header form itself. Advice is then relayed, unless the configuration says `act`.
    public func clientHandlesAdvice(_ head: RequestHead) -> Bool {
        whenClientHandlesAdvice == .pass && head.fields.contains(.xAuthenticateResponse)
    }

    /// The reason why a request cannot be sent again, as one sentence; nil if it can. After a success, unsafe methods are not
    /// repeated. A policy evaluation changes nothing and may be.
    /// - Parameters:
    /// - bodyComplete: true if the whole body was buffered, or there is none.
    /// - status: of the response, if there is one.
    public func refusalToReplay(
        _ head: RequestHead, _ resource: Resource, bodyComplete: Bool, after status: Int? = nil
    ) -> String? {
        if let reason = Self.refusalOfKind(head) { return reason }
        guard resource.replays(head.method, after: status) || isPolicyEvaluation(head) else {
            return resource.replay == .safe
                ? "\(head.methodText) is not replayed here: the resource says replay: safe"
                : "\(head.methodText) got status \(status ?? 0) and is not sent twice: the resource does not set replay: any"
        }
        return bodyComplete
            ? nil
            : "the request body was not kept: it is larger than authorization.body_limit or limits.buffered_body, "
                + "or limits.buffered had no room"
    }

    /// The presentation of this advice's transaction to the resource. An advice in a body comes from a service that asked AM
    /// itself.
    public func presentation(of advice: Advice, at resource: Resource) -> Presentation {
        resource.present ?? (advice.source == .body ? presentToREST : presentToGateway)
    }

    static func refusalOfKind(_ head: RequestHead) -> String? {
        switch head.method {
        case .options: return "a preflight is not stepped up"
        case .connect: return "a tunnel is not stepped up"
        default: return isUpgrade(head) ? "a protocol upgrade is not replayed" : nil
        }
    }

    /// `Upgrade: h2c` alone does not count. Clients offer it on ordinary requests, and servers may ignore it (RFC 9110 §7.8).
    private static func isUpgrade(_ head: RequestHead) -> Bool {
        guard head.fields.contains(.upgrade) else { return false }
        return head.fields.values(named: "Upgrade").contains { line in
            line.split(separator: ",").contains { item in
                let name = item.filter { $0 != " " && $0 != "\t" }
                return !name.isEmpty && !ASCII.equal(name, "h2c")
            }
        }
    }
}

extension AuthorizationPolicy.Resource {
    func replays(_ method: Method, after status: Int?) -> Bool {
        if method == .get || method == .head { return true }
        switch replay {
        case .any: return true
        case .safe: return false
        case nil: return status.map { !Self.tellsOfSuccess($0) } ?? true
        }
    }

    /// A 303 follows a request that was carried out (RFC 9110 §15.4.4). Gateways and agents use the other redirects, such as 302
    /// and 307, in place of the resource.
    private static func tellsOfSuccess(_ status: Int) -> Bool { (200..<300).contains(status) || status == 303 }
}
