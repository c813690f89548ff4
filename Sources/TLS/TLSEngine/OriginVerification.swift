internal import COpenSSL
internal import Formats

/// Verifies one origin's certificate and stores the text of the fault.
final class OriginVerification {
    private let name: String
    private let demands: OriginDemands
    private(set) var fault: TLSFault?

    init(name: String, _ demands: OriginDemands) {
        self.name = name
        self.demands = demands
    }

    /// X509_STORE_CTX_get_error(3)
    func accepts(_ store: OpaquePointer) -> Bool {
        if demands.verifies {
            guard X509_verify_cert(store) == 1 else {
                fault = TLSFault(.certificate, words(store))
                return false
            }
        } else {
            X509_STORE_CTX_set_error(store, X509_V_OK)
        }
        guard demands.pins.isEmpty || isPinned(store) else {
            X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
            let which =
                demands.verifies
                ? "no public key in its chain is one"
                : "its public key, which alone counts where verify is false, is none"
            fault = TLSFault(
                .certificate,
                "\(which) of the pins that tls.upstream.hosts has for \(name); its own is "
                    + "sha256/\(digest(X509_STORE_CTX_get0_cert(store)))")
            return false
        }
        return true
    }

    private func isPinned(_ store: OpaquePointer) -> Bool {
        // without verification the peer has proved nothing but its own key, since anybody may send other certificates
        guard demands.verifies else {
            let own = Self.certificate(X509_STORE_CTX_get0_cert(store))
            return own.map { demands.pins.contains($0.publicKeyDigest) } ?? false
        }
        let chain = X509_STORE_CTX_get0_chain(store)
        for index in 0..<max(0, usher_sk_X509_num(chain)) {
            if let certificate = Self.certificate(usher_sk_X509_value(chain, index)),
                demands.pins.contains(certificate.publicKeyDigest)
            {
                return true
            }
        }
        return false
    }

    private func digest(_ handle: OpaquePointer?) -> String {
        Self.certificate(handle).map { Base64.encode($0.publicKeyDigest) } ?? "unknown"
    }

    private static func certificate(_ handle: OpaquePointer?) -> Certificate? {
        guard let handle, X509_up_ref(handle) == 1 else { return nil }
        return Certificate(owning: handle)
    }

    // MARK: words

    private func words(_ store: OpaquePointer) -> String {
        let code = X509_STORE_CTX_get_error(store)
        let isLeaf = X509_STORE_CTX_get_error_depth(store) == 0
        let certificate = Self.certificate(X509_STORE_CTX_get_current_cert(store))
        let subject = certificate?.subject ?? "?"
        let issuer = certificate?.issuer ?? "?"
        let whose = isLeaf ? "its certificate" : "the certificate of its authority \(subject)"
        let unverified = "or, for this host alone, set verify: false in tls.upstream.hosts"
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return "\(whose) expired on \(date(certificate?.notAfter)); renew it, \(unverified)"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "\(whose) is valid from \(date(certificate?.notBefore)) only; see to the clocks, \(unverified)"
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return "its certificate is self-signed (\(subject)); add it to tls.upstream.extra_trust, \(unverified)"
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            return
                "its chain ends in the unknown issuer \(subject); add that root to tls.upstream.extra_trust, \(unverified)"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return
                "\(whose) is by an unknown issuer, \(issuer), which the origin does not send and nobody here trusts; "
                + "add it to tls.upstream.extra_trust, \(unverified)"
        case X509_V_ERR_CERT_REVOKED:
            return "\(whose) was revoked, as tls.upstream.crl says; the origin needs another one"
        case X509_V_ERR_UNABLE_TO_GET_CRL:
            return
                "tls.upstream.crl has no list of \(issuer), so nobody knows whether \(whose) was revoked; add that list"
        case X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_CRL_NOT_YET_VALID:
            return "the list of \(issuer) in tls.upstream.crl is out of date; fetch it anew"
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            return
                "its certificate is for the wrong host: it names \(names(certificate)) and not \(name); ask for a name "
                + "that it has, \(unverified)"
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
            return "\(whose) has a key that is too weak; the origin needs another one, \(unverified)"
        case X509_V_ERR_CA_MD_TOO_WEAK:
            return "\(whose) is signed with a digest that is too weak; the origin needs another one, \(unverified)"
        default:
            let reason = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
            return "\(whose) (\(subject)) does not verify: \(reason); correct it, \(unverified)"
        }
    }

    private func date(_ seconds: Int?) -> String { seconds.map { CalendarTime($0).internet } ?? "an unknown day" }

    private func names(_ certificate: Certificate?) -> String {
        let names = certificate?.names ?? []
        guard !names.isEmpty else {
            return "nobody"
                + (certificate?.commonName.map { " (but for the common name \($0), which does not count)" } ?? "")
        }
        return names.prefix(8).joined(separator: ", ") + (names.count > 8 ? ", …" : "")
    }
}
