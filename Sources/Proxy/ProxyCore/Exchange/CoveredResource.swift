import Authorization
import HTTPCodec

/// A protected resource and its entry of `authorization`.
///
/// A class, because most requests have none and then reserve no room for it.
final class CoveredResource {
    /// How Usher treats requests to the resource.
    enum Manner {
        /// AM must allow each request.
        case enforce
        /// The client steps up itself and gets the advice in another form.
        case translate(Advice.Source)
        /// The client steps up itself.
        case leave
        case stepUp
    }

    let policy: AuthorizationPolicy
    let resource: AuthorizationPolicy.Resource
    /// AM must allow each request to the resource.
    let isEnforced: Bool
    /// The session that Usher adds to a request without one.
    private(set) lazy var provided = ProvidedSession()

    init(policy: AuthorizationPolicy, resource: AuthorizationPolicy.Resource, isEnforced: Bool) {
        self.policy = policy
        self.resource = resource
        self.isEnforced = isEnforced
    }

    func manner(_ request: RequestHead) -> Manner {
        if isEnforced { return .enforce }
        if let form = resource.translation { return .translate(form) }
        return policy.clientHandlesAdvice(request) ? .leave : .stepUp
    }

    /// The session to add to the request; nil when the request carries one or the entry provides none.
    func provided(for request: RequestHead) -> ProvidedSession? {
        switch manner(request) {
        case .enforce, .stepUp: policy.lacksSession(request) ? provided : nil
        case .translate, .leave: nil
        }
    }
}
