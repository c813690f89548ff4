internal import Formats

/// One call of an endpoint of AM's REST interface.
struct RESTCall: Sendable {
    let request: SandboxRequest
    let route: RealmRoute
    /// What its answer keeps to.
    let version: ResourceVersion
    /// What AM is to do wrong.
    let faults: Faults
    /// Seconds since 1970.
    let now: Int

    var realm: String { route.realm }

    /// How a login fails, in the form of the version that was asked for.
    func loginFailure(_ status: Int, _ message: String, errorCode: String, note: String) -> SandboxResponse {
        guard version.major == 1 else { return .loginFailure(status, message, errorCode: errorCode, note: note) }
        let old = JSONValue.record(["errorMessage": .string(message), "failureUrl": .string("")])
        return .json(status, old, note: note)
    }
}
