import Authorization
import HTTPCodec

/// A protected resource, and the entry of `authorization` that it stands in.
///
/// An object: whoever asks mostly learns that there is none, and makes no room for one.
final class CoveredResource {
    /// What is done for requests to it.
    enum Manner {
        /// AM has to allow each one.
        case enforce
        /// The client steps up by itself, by another form of advice.
        case translate(Advice.Source)
        /// The client steps up by itself.
        case leave
        case stepUp
    }

    let policy: AuthorizationPolicy
    let resource: AuthorizationPolicy.Resource
    /// AM has to allow each request to it.
    let isEnforced: Bool
    /// The session that is shown for a request that carries none.
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

    /// The session that goes along with such a request; nil where it carries one, or none is shown for it.
    func provided(for request: RequestHead) -> ProvidedSession? {
        switch manner(request) {
        case .enforce, .stepUp: policy.lacksSession(request) ? provided : nil
        case .translate, .leave: nil
        }
    }
}
