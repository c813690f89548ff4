internal import Formats
internal import HTTPCodec

/// The gateway in front of the resource: a sign-on filter, then a policy filter.
///
/// It uses the realm of the session, as if there were one route for each realm.
struct Gateway: Sendable {
    private let options: SandboxOptions

    init(_ options: SandboxOptions) { self.options = options }

    func answer(
        _ request: SandboxRequest, _ faults: Faults, _ am: inout AccessManager, _ resource: inout ProtectedResource,
        _ now: Int
    ) -> SandboxResponse {
        guard let protection = Protection(path: request.head.path, am.directory) else {
            return .text(404, "Nothing is here.\n", note: "no such page")
        }
        let session = am.store.sessions.find(shownBy: request, now: now)
        guard !protection.isOpen else { return resource.show(request, session, nil, note: "public") }
        let original = ResourceName.original(request.head)
        guard let session else {
            let location = "\(request.amURL(options))/?goto=\(Self.lightlyEncoded(original))&realm=/"
            return .redirect(302, to: location, note: "no session: redirect to sign in")
        }
        am.store.sessions.touch(session.token, now: now)
        let id = faults.has(.again) ? nil : request.query["_txid"]
        let decision = protection.decide(
            resource: ResourceName.normalized(request.head),
            method: request.head.methodText, session: session, transaction: id, &am.store, now)
        switch decision {
        case .granted(let transaction):
            let how = transaction.map { "transaction \(Transaction.short($0.id)) used" } ?? "session is strong enough"
            return resource.show(request, session, transaction, note: "\(how) by \(session.user)")
        case .advice(let right):
            let advice = spoil(right, of: session, faults, &am, now)
            let asked = request.head.fields["x-authenticate-response"] == "header"
            let about = "\(session.user) must first "
            let what =
                advice.first(CompositeAdvice.transaction).map {
                    "approve transaction \(Transaction.short($0))"
                        + (id == nil ? "" : ", the presented one grants no access")
                } ?? "meet \(advice.pairs.map(\.name).joined(separator: ", "))"
            // a session of another realm is created in that realm
            let realm = advice.first(CompositeAdvice.realm) ?? session.realm
            return asked
                ? challenge(advice, realm, request, faults, note: about + what)
                : redirect(advice, realm, original, request, faults, note: about + what)
        case .denied:
            return .text(403, "Denied.\n", note: "denied to \(session.user)")
        }
    }

    /// The advice after all requested faults were applied.
    private func spoil(
        _ advice: CompositeAdvice, of session: Session, _ faults: Faults, _ am: inout AccessManager, _ now: Int
    ) -> CompositeAdvice {
        guard !faults.isEmpty else { return advice }
        if let id = advice.first(CompositeAdvice.transaction) { am.store.transactions.spoil(id, faults) }
        if faults.has(.wrongSession) { am.store.sessions.end(session.token) }
        am.bring(faults, by: advice, of: session, now)
        return faults.conditions(advice)
    }

    /// A 401 with an empty body and one challenge: `SSOADVICE realm="/",advices="<base64 of JSON>",am_uri="http://…/am/"`.
    private func challenge(
        _ advice: CompositeAdvice, _ realm: String, _ request: SandboxRequest, _ faults: Faults, note: String
    ) -> SandboxResponse {
        let parameters: [(name: String, value: String?)] = [
            ("realm", realm), ("advices", faults.encoded(advice)),
            ("am_uri", faults.server(request.amURL(options)) + "/"),
        ]
        let shown = parameters.compactMap { name, value in value.map { "\(name)=\"\($0)\"" } }
        let value = "SSOADVICE " + faults.cut(shown.joined(separator: ","))
        return SandboxResponse(401, note: note, fields: [("WWW-Authenticate", value)])
    }

    /// A 307 to AM with `goto`, `realm`, `authIndexType` and `authIndexValue` in this order, with minimal escaping. For a
    /// transaction, `goto` already contains `_txid`.
    private func redirect(
        _ advice: CompositeAdvice, _ realm: String, _ original: String, _ request: SandboxRequest, _ faults: Faults,
        note: String
    ) -> SandboxResponse {
        var back = original
        if let id = advice.first(CompositeAdvice.transaction) {
            back += (original.contains("?") ? "&" : "?") + "_txid=\(id)"
        }
        let value = Self.lightlyEncoded(faults.cut(faults.document(advice)))
        let location =
            "\(faults.server(request.amURL(options)))/?goto=\(Self.lightlyEncoded(back))&realm=\(Self.lightlyEncoded(realm))"
            + "&authIndexType=composite_advice" + (faults.has(.noValue) ? "" : "&authIndexValue=\(value)")
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
