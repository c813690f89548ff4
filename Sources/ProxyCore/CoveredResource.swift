import Authorization

/// A protected resource, and the entry of `authorization` that it stands in.
struct CoveredResource {
    let policy: AuthorizationPolicy
    let resource: AuthorizationPolicy.Resource
}
