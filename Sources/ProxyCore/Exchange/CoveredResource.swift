import Authorization

/// A protected resource, and the entry of `authorization` that it stands in.
///
/// An object: whoever asks mostly learns that there is none, and makes no room for one.
final class CoveredResource {
    let policy: AuthorizationPolicy
    let resource: AuthorizationPolicy.Resource
    /// AM has to allow each request to it.
    let isEnforced: Bool

    init(policy: AuthorizationPolicy, resource: AuthorizationPolicy.Resource, isEnforced: Bool) {
        self.policy = policy
        self.resource = resource
        self.isEnforced = isEnforced
    }
}
