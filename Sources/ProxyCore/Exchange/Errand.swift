public import Authorization
internal import Interception

/// A call that no exchange waits for: AM is told that nobody has use for something any more.
public struct Errand: Sendable {
    enum Purpose: Sendable {
        case logOut
        /// - Parameter resource: the first that the token is for.
        case revocation(resource: String)
    }

    let call: ServerCall
    let bound: CallBound
    let purpose: Purpose

    /// Ends a session of Usher's own.
    public init(_ end: OwnSession.End) {
        call = end.call
        bound = .server(end.server)
        purpose = .logOut
    }

    /// Revokes a token; nil where it cannot be said whose it is.
    public init?(revoking grant: TokenGrant, of source: TokenSource) {
        guard let revocation = TokenRevocation(grant, of: source) else { return nil }
        call = revocation.call
        bound = .url(revocation.url)
        purpose = .revocation(resource: source.name)
    }

    /// What is left where it fails.
    public var remains: String {
        switch purpose {
        case .logOut: "a session was not ended"
        case .revocation: "a token was not revoked"
        }
    }

    /// What is told when it goes out to that URL.
    func told(_ url: String) -> ExchangeMoment {
        switch purpose {
        case .logOut: .session("\(call.action.rawValue): a session of Usher's own is ended at \(url)")
        case .revocation(let resource): .tokenCall(call.action, resource: resource, number: call.number, url: url)
        }
    }

    /// Why it was not done, by this answer; nil where it was.
    func fault(_ answer: HeldResponse) -> String? {
        switch purpose {
        // a session that is over already may be answered with anything
        case .logOut: nil
        case .revocation: TokenRevocation.fault(answer.head, body: answer.body)
        }
    }
}

/// Has errands done, by whichever loop serves.
public protocol ErrandStore: AnyObject {
    func add(_ errands: [Errand])
}
