internal import Formats
public import HTTPCodec
internal import Interception

/// Which requests the policy concerns, and how (docs/protocol.md#replay).
extension AuthorizationPolicy {
    /// The entry that covers a request; nil where advice in its answer is the client's own business.
    ///
    /// Never covered: OPTIONS (a preflight carries no session), CONNECT, protocol upgrades, and AM's own endpoints for
    /// authentication, sessions and OAuth, whose 401 means something else.
    public func resource(for head: RequestHead) -> Resource? {
        coverage(of: head).flatMap { $0.isEnforced ? nil : $0.resource }
    }

    /// Whether to ask the enforcement point for the header form. Not where the client has chosen its own form, nor
    /// where the request could not be sent again and the answer would only be of less use to the client.
    public func offersHeader(on head: RequestHead, _ resource: Resource) -> Bool {
        offersHeader && resource.advice.contains(.header)
            && !head.fields.contains(.xAuthenticateResponse) && resource.replays(head.method, after: nil)
            && !isPolicyEvaluation(head)
    }

    /// The field that asks for the header form.
    public static let offer = (name: "x-authenticate-response", value: "header")

    /// The client asked for the header form itself, so advice goes to it untouched, unless the configuration says to
    /// act all the same.
    public func clientHandlesAdvice(_ head: RequestHead) -> Bool {
        whenClientHandlesAdvice == .pass && head.fields.contains(.xAuthenticateResponse)
    }

    /// Why a request cannot be sent a second time, one sentence; nil where it can.
    /// - Parameters:
    ///   - bodyComplete: the whole body was kept; true for a request without one.
    ///   - status: of the answer, where there is one. A success says that the request was carried out, and what is not
    ///     safe is not done twice then. A policy evaluation changes nothing, however often it is sent.
    public func refusalToReplay(
        _ head: RequestHead, _ resource: Resource, bodyComplete: Bool, after status: Int? = nil
    ) -> String? {
        if let reason = Self.refusalOfKind(head) { return reason }
        guard resource.replays(head.method, after: status) || isPolicyEvaluation(head) else {
            return resource.replay == .safe
                ? "\(head.methodText) is not replayed here: the resource says replay: safe"
                : "\(head.methodText) was answered with \(status ?? 0) and is not sent twice, for the resource does not say replay: any"
        }
        return bodyComplete
            ? nil
            : "the request body was not kept: it is larger than authorization.body_limit or limits.buffered_body, "
                + "or limits.buffered had no room"
    }

    /// How a transaction that this advice asked for is shown to the resource. Whoever told it in a body is a service that
    /// asked AM itself.
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

    /// `Upgrade: h2c` alone does not count: clients offer it on plain requests as a matter of course, and nobody has
    /// to take it up (RFC 9110 §7.8).
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

    /// A 303 shows what came of a request that was carried out (RFC 9110 §15.4.4). The other redirects do not say so:
    /// gateways and agents answer with 302 and 307 in the resource's place.
    private static func tellsOfSuccess(_ status: Int) -> Bool { (200..<300).contains(status) || status == 303 }
}
