import HTTPCodec
import TLSEngine

/// The CA that a running proxy signs with, beside the one that is known here.
enum ServedAuthority: Equatable {
    /// The proxy does not answer, is not Usher, or shows no CA.
    case unknown
    case own
    /// One from before `usher ca rotate`.
    case retired
    /// With its fingerprint.
    case foreign(String)

    init(_ client: ProxyClient, own: AuthorityCertificates?) {
        guard let answer = try? client.get("http://usher.proxy/ca.pem"), answer.head.status == 200, answer.isUshers
        else {
            self = .unknown
            return
        }
        self.init(answer.body, own: own)
    }

    /// - Parameter pem: what the proxy shows.
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
