internal import Formats
internal import HTTPCodec

/// The gateway in front of the resource: a sign-on filter, then a policy filter.
///
/// It works in the realm of the session that it is shown, as if there were one route per realm.
extension SandboxServer {
    mutating func gateway(_ request: SandboxRequest, _ now: Int) -> SandboxResponse {
        guard let protection = Protection(path: request.head.path) else {
            return .text(404, "Nothing is here.\n", note: "no such page")
        }
        let session = session(of: request, now)
        guard protection != .open else { return resource(request, session, nil, note: "open to all") }
        let original = ResourceName.original(request.head)
        guard let session else {
            let location = "\(amURL(request))/?goto=\(Self.lightlyEncoded(original))&realm=/"
            return .redirect(302, to: location, note: "no session: sent to sign in")
        }
        sessions.touch(session.token, now: now)
        let id = request.query["_txid"]
        let decision = decide(
            protection, resource: ResourceName.normalized(request.head, keepsQuery: options.resourceIncludesQuery),
            method: request.head.methodText, session: session, transaction: id, now)
        switch decision {
        case .granted(let transaction):
            let how = transaction.map { "transaction \(Self.short($0.id)) used" } ?? "session is strong enough"
            return resource(request, session, transaction, note: "\(how) by \(session.user)")
        case .advice(let advice):
            let asked = request.head.fields["x-authenticate-response"] == "header"
            let about = "\(session.user) must first "
            let what =
                advice.first(CompositeAdvice.transaction).map {
                    "approve transaction \(Self.short($0))" + (id == nil ? "" : ", the one presented grants nothing")
                } ?? "pass \(Tree.stepUp.name)"
            return asked
                ? challenge(advice, session.realm, request, note: about + what)
                : redirect(advice, session.realm, original, request, note: about + what)
        }
    }

    /// 401 with an empty body and one challenge:
    /// `SSOADVICE realm="/",advices="<base64 of JSON>",am_uri="http://…/am/"`.
    private func challenge(
        _ advice: CompositeAdvice, _ realm: String, _ request: SandboxRequest, note: String
    ) -> SandboxResponse {
        let parameters = options.adviceParameters.map { parameter in
            let value =
                switch parameter {
                case .realm: realm
                case .advices: Base64.encode(Array(advice.json.serialized.utf8))
                case .amURI: amURL(request) + (options.amURIEndsInSlash ? "/" : "")
                }
            return "\(parameter.rawValue)=\"\(value)\""
        }
        let value = "SSOADVICE " + parameters.joined(separator: ",") + (options.adviceEndsInComma ? "," : "")
        return SandboxResponse(401, note: note, fields: [("WWW-Authenticate", value)])
    }

    /// 307 to AM with `goto`, `realm`, `authIndexType` and `authIndexValue`, in this order and with no more escaping
    /// than a query needs. For a transaction, `goto` carries `_txid` already.
    private func redirect(
        _ advice: CompositeAdvice, _ realm: String, _ original: String, _ request: SandboxRequest, note: String
    ) -> SandboxResponse {
        var back = original
        if let id = advice.first(CompositeAdvice.transaction) {
            back += (original.contains("?") ? "&" : "?") + "_txid=\(id)"
        }
        let value =
            switch options.redirectSpelling {
            case .percentEncoded: Self.lightlyEncoded(advice.xml)
            case .base64URL: Base64.encode(Array(advice.xml.utf8), urlSafe: true)
            }
        let location =
            "\(amURL(request))/?goto=\(Self.lightlyEncoded(back))&realm=\(Self.lightlyEncoded(realm))"
            + "&authIndexType=composite_advice&authIndexValue=\(value)"
        return .redirect(307, to: location, note: note)
    }

    /// Percent-encodes all but unreserved characters, `:`, `/` and `?`.
    private static func lightlyEncoded(_ text: String) -> String {
        text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "/" || $0 == "?" }
            .reduce(into: (text: "", rest: text[...])) { state, piece in
                state.text += PercentCoding.encode(piece)
                state.rest = state.rest.dropFirst(piece.count)
                if let separator = state.rest.popFirst() { state.text.append(separator) }
            }.text
    }
}
