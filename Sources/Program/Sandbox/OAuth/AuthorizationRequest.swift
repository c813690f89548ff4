internal import Formats
internal import HTTPCodec

/// A valid `authorize` request, whose response may be sent to its redirect URI.
struct AuthorizationRequest: Sendable {
    let client: Directory.Client
    let redirectURI: String
    private let parameters: QueryText

    /// - Parameters:
    /// - parameters: of the query or form.
    /// - registered: redirect URIs beyond those that `RedirectURI` accepts.
    init(_ parameters: QueryText, _ directory: Directory, registered: [String]) throws(OAuthRefusal) {
        guard let client = directory.client(parameters["client_id"]) else {
            throw OAuthRefusal(400, "invalid_client", "Unknown client_id")
        }
        guard let back = parameters["redirect_uri"], RedirectURI.isUsable(back) else {
            throw OAuthRefusal(400, "redirect_uri_mismatch", "The redirect_uri is missing or not a usable URL")
        }
        guard RedirectURI.isRegistered(back, registered + client.redirectURIs) else {
            throw OAuthRefusal(400, "redirect_uri_mismatch", "The redirect_uri is not registered for the client")
        }
        self.client = client
        redirectURI = back
        self.parameters = parameters
    }

    subscript(_ name: String) -> String? { parameters[name] }

    /// The redirect with an error for an unsupported request; nil if it is supported.
    var refusal: SandboxResponse? {
        guard self["response_type"] == "code" else {
            return refused("unsupported_response_type", "Only the code flow is supported")
        }
        // RFC 7636 §4.4.1; a plain challenge proves nothing to an observer of the request
        guard self["code_challenge"] == nil || self["code_challenge_method"] == "S256" else {
            return refused("invalid_request", "code_challenge_method must be S256")
        }
        guard client.secret != nil || self["code_challenge"] != nil else {
            return refused("invalid_request", "A public client needs a code_challenge")
        }
        return nil
    }

    func refused(_ error: String, _ description: String) -> SandboxResponse {
        let parameters = [("error", error), ("error_description", description)] + state
        return .redirect(302, to: RedirectURI.adding(parameters, to: redirectURI), note: error)
    }

    func granted(_ code: String, by issuer: String, to user: String) -> SandboxResponse {
        let parameters = [("code", code), ("iss", issuer)] + state + [("client_id", client.id)]
        return .redirect(302, to: RedirectURI.adding(parameters, to: redirectURI), note: "a code for \(user)")
    }

    private var state: [(String, String)] { self["state"].map { [("state", $0)] } ?? [] }

    /// The consent form, with the request's parameters and a CSRF proof.
    func consentPage(_ session: Session) -> SandboxResponse {
        func hidden(_ name: String, _ value: String) -> String {
            "<input type=\"hidden\" name=\"\(MarkupText.escaped(name))\" value=\"\(MarkupText.escaped(value))\">"
        }
        let fields =
            parameters.pairs.map { hidden(QueryText.name($0), QueryText.value($0)) } + [hidden("csrf", session.token)]
        let page = """
            <!DOCTYPE html>
            <html lang="en"><title>Consent</title>
            <form method="post"><p>\(client.id) asks for \(MarkupText.escaped(self["scope"] ?? "nothing")).</p>
            \(fields.joined())
            <button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button>
            </form></html>

            """
        return .html(page, note: "asks \(session.user) for consent")
    }
}
