internal import HTTPCodec

/// Answers that take the place of the right ones.
extension SandboxServer {
    /// How the resource fails before it looks at anything; nil where it goes on.
    func failure(_ request: SandboxRequest, _ faults: Faults) -> SandboxResponse? {
        if faults.has(.reset) { return .reset }
        if let seconds = faults[.tooMany] { return busy(429, seconds) }
        if let seconds = faults[.unavailable] { return busy(503, seconds) }
        if faults.has(.circle) { return .redirect(302, to: request.head.url, note: "sent in a circle") }
        return nil
    }

    /// How AM fails before it looks at anything.
    func serverFailure(_ request: SandboxRequest, _ faults: Faults) -> SandboxResponse? {
        if faults.has(.amReset) { return .reset }
        if let seconds = faults[.amTooMany] { return busy(429, seconds) }
        if let seconds = faults[.amUnavailable] { return busy(503, seconds) }
        if faults.has(.amCircle) { return .redirect(302, to: request.head.url, note: "sent in a circle") }
        if faults.has(.amText) { return .text(200, "<html>Welcome</html>\n", note: "a page instead of JSON") }
        guard faults.has(.amLockout) else { return nil }
        return loginFailure(
            401, "User Locked Out.", errorCode: "112", ResourceVersion(major: 2, minor: 1), note: "locked out on demand"
        )
    }

    private func busy(_ status: Int, _ seconds: Int) -> SandboxResponse {
        var response = SandboxResponse.text(status, "Not now.\n", note: "busy on demand")
        response.fields.append(("Retry-After", "\(seconds)"))
        return response
    }

    /// The faults that count for a request to AM: those of all, its own, and those of whatever brought it about.
    mutating func serverFaults(_ request: SandboxRequest, _ own: Faults, _ now: Int) -> Faults {
        var faults = Faults(options.faults).ofServer + own.ofServer
        guard request.head.path.hasSuffix("/authenticate") else { return faults }
        if let id = flows.flowId(of: request) {
            faults = faults + (flows.flow(id, now: now)?.faults ?? Faults())
        } else if let transaction = CompositeAdvice.transactionId(of: request) {
            faults = faults + (brought.remove(transaction) ?? Faults())
        } else if let token = sessionToken(of: request) {
            faults = faults + (brought.remove(token) ?? Faults())
        }
        return faults
    }

    /// What a request wants AM to do wrong once its step-up comes there.
    mutating func bring(_ faults: Faults, by advice: CompositeAdvice, of session: Session, _ now: Int) {
        let ofServer = faults.ofServer
        guard !ofServer.isEmpty else { return }
        let key = advice.first(CompositeAdvice.transaction) ?? session.token
        brought.remove(key)
        brought.insert(ofServer, id: key, now: now)
    }
}

extension SandboxResponse {
    /// None: the connection is reset.
    static var reset: SandboxResponse {
        var response = SandboxResponse(500, note: "connection reset on demand")
        response.resets = true
        return response
    }
}
