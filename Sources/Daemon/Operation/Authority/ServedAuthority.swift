import HTTPCodec
import TLSEngine

/// The CA of a running proxy, compared with the local one.
enum ServedAuthority: Equatable {
    /// The proxy does not respond, is not Usher, or shows no CA.
    case unknown
    case own
    /// An older root, from before `usher ca rotate`.
    case retired
    /// Another CA, with its fingerprint.
    case foreign(String)

    init(_ client: ProxyClient, own: AuthorityCertificates?) {
        guard let answer = try? client.get("http://usher.proxy/ca.pem"), answer.head.status == 200, answer.isUshers
        else {
            self = .unknown
            return
        }
        self.init(answer.body, own: own)
    }

    /// - Parameter pem: the CA that the proxy shows.
    init(_ pem: [UInt8], own: AuthorityCertificates?) {
        guard let served = TrustBundle.certificates(pem).first else {
            self = .unknown
            return
        }
        if own?.root.sha256 == served.sha256 {
            self = .own
        } else if own?.retired.contains(where: { $0.sha256 == served.sha256 }) == true {
            self = .retired
        } else {
            self = .foreign(served.fingerprint)
        }
    }
}
