internal import HTTPCodec

/// Faulty responses in place of the right ones.
extension Faults {
    /// The resource's failure before any other check; nil if there is none.
    func failure(of request: SandboxRequest) -> SandboxResponse? {
        failure(of: request, .reset, .tooMany, .unavailable, .circle)
    }

    /// AM's failure before any other check.
    func serverFailure(of request: SandboxRequest) -> SandboxResponse? {
        if let failure = failure(of: request, .amReset, .amTooMany, .amUnavailable, .amCircle) { return failure }
        if has(.amText) { return .text(200, "<html>Welcome</html>\n", note: "a page instead of JSON") }
        guard has(.amLockout) else { return nil }
        return .loginFailure(401, "User Locked Out.", errorCode: "112", note: "locked out on demand")
    }

    private func failure(
        of request: SandboxRequest, _ reset: SandboxFault.Name, _ tooMany: SandboxFault.Name,
        _ unavailable: SandboxFault.Name, _ circle: SandboxFault.Name
    ) -> SandboxResponse? {
        if has(reset) { return .reset }
        if let seconds = self[tooMany] { return .busy(429, seconds) }
        if let seconds = self[unavailable] { return .busy(503, seconds) }
        if has(circle) { return .redirect(302, to: request.head.url, note: "redirect loop") }
        return nil
    }
}

extension SandboxResponse {
    /// Resets the connection without a response.
    fileprivate static var reset: SandboxResponse {
        var response = SandboxResponse(500, note: "connection reset on demand")
        response.resets = true
        return response
    }

    fileprivate static func busy(_ status: Int, _ seconds: Int) -> SandboxResponse {
        text(status, "Not now.\n", note: "busy on demand").adding("Retry-After", "\(seconds)")
    }
}
