internal import Formats

/// One call of a REST endpoint of AM.
struct RESTCall: Sendable {
    let request: SandboxRequest
    let route: RealmRoute
    /// The version of the response.
    let version: ResourceVersion
    /// The faults of AM.
    let faults: Faults
    /// Seconds since 1970.
    let now: Int

    var realm: String { route.realm }

    /// The response of a failed login in the requested version.
    func loginFailure(_ status: Int, _ message: String, errorCode: String, note: String) -> SandboxResponse {
        guard version.major == 1 else { return .loginFailure(status, message, errorCode: errorCode, note: note) }
        let old: JSONValue = ["errorMessage": .string(message), "failureUrl": ""]
        return .json(status, old, note: note)
    }
}
