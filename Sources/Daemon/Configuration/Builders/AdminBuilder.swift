internal import Addresses
internal import Declaration
internal import Formats
internal import ProxyCore
internal import TLSEngine

/// Builds the admin port from `admin.listen` and `admin.token`.
struct AdminBuilder {
    let findings: Findings

    /// The size of a token in bytes: too long to guess, short enough for a header field.
    private static let tokenSize = 16...1024

    /// - Parameter listeners: the proxy's own listeners.
    func port(_ fields: Fields?, listeners: [Listener]) -> AdminPort? {
        guard let fields else { return nil }
        let token = token(fields)
        guard let written = fields["listen"], let listener = written.text.flatMap({ Listener($0) }) else {
            if let place = fields.position(of: "token"), fields["listen"]?.isNull != false,
                !fields.has("listen") || fields["listen"] != nil
            {
                findings.warning(place, "admin.token has no effect without admin.listen; add listen: 127.0.0.1:3130")
            }
            return nil
        }
        if listener.port != 0, listeners.contains(where: { $0.address == listener.address && $0.port == listener.port })
        {
            findings.error(written.position, "the proxy already listens on admin.listen; choose another port")
        }
        if !listener.address.isLoopback || listener.address.isUnspecified {
            findings.warning(
                written.position,
                "\(listener) is open to other machines, and the token passes unencrypted; listen on 127.0.0.1 and "
                    + "use ssh -L or a TLS server"
            )
        }
        guard fields.has("token") else {
            findings.error(
                written.position,
                "admin.listen requires admin.token, so that not everyone can use the port; add token: "
                    + "\"${credential.admin-token}\""
            )
            return nil
        }
        return token.map { AdminPort(listener: listener, token: $0) }
    }

    private func token(_ fields: Fields) -> SecretBytes? {
        guard let written = fields["token"], case .material(let token)? = written.secret else { return nil }
        guard Self.tokenSize.contains(token.count) else {
            let bound =
                token.count < Self.tokenSize.lowerBound
                ? "\(Self.tokenSize.lowerBound) bytes or more" : "1024 bytes or fewer"
            findings.error(
                written.position,
                "admin.token takes \(bound), found \(token.count); openssl rand -base64 32 makes one")
            return nil
        }
        guard token.withBytes({ Self.isSendable($0) }) else {
            findings.error(
                written.position,
                "admin.token has characters that Authorization: Bearer does not permit; use letters, digits, "
                    + "-._~+/ and = at the end; openssl rand -base64 32 makes one"
            )
            return nil
        }
        return token
    }

    /// The syntax of a bearer token (RFC 6750 §2.1).
    private static func isSendable(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let text = bytes.prefix { ASCII.isAlpha($0) || ASCII.isDigit($0) || "-._~+/".utf8.contains($0) }
        return !text.isEmpty && bytes.dropFirst(text.count).allSatisfy { $0 == 0x3D }
    }
}
