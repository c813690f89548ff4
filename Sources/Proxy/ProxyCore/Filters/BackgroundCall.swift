public import Authorization
internal import Interception

/// A call to AM that no exchange waits for: it ends a session or revokes a token that is no longer needed.
public struct BackgroundCall: Sendable {
    enum Purpose: Sendable {
        case logOut
        /// - Parameter resource: the first resource that the token is for.
        case revocation(resource: String)
    }

    let call: ServerCall
    let bound: CallBound
    let purpose: Purpose
    /// The test session that needs it, whose rules apply.
    public var testSession: Session?

    /// The id and the rules of a test session.
    public struct Session: Sendable {
        public let id: String
        public var engine: Engine

        public init(_ id: String, _ engine: Engine) { (self.id, self.engine) = (id, engine) }

        func joined(to stores: SharedStores) -> TestSession { TestSession(id, engine, stores) }
    }

    /// Ends a session that Usher created.
    public init(_ end: OwnSession.End) {
        call = end.call
        bound = .server(end.server)
        purpose = .logOut
    }

    /// Revokes a token; nil when its owner is unknown.
    public init?(revoking grant: TokenGrant, of source: TokenSource) {
        guard let revocation = TokenRevocation(grant, of: source) else { return nil }
        call = revocation.call
        bound = .url(revocation.url)
        purpose = .revocation(resource: source.name)
    }

    /// Describes what stays valid at AM if the background call fails.
    public var remains: String {
        switch purpose {
        case .logOut: "a session was not ended"
        case .revocation: "a token was not revoked"
        }
    }

    /// The event to log when the background call goes out to that URL.
    func told(_ url: String) -> LogEvent {
        switch purpose {
        case .logOut: .session("\(call.action.rawValue): a session of Usher's own is ended at \(url)")
        case .revocation(let resource): .tokenCall(call.action, resource: resource, number: call.number, url: url)
        }
    }

    /// The reason why the background call failed with this response; nil if it succeeded.
    func fault(_ answer: HeldResponse) -> String? {
        switch purpose {
        // AM may give any response for a session that is already over
        case .logOut: nil
        case .revocation: TokenRevocation.fault(answer.head, body: answer.body)
        }
    }
}
