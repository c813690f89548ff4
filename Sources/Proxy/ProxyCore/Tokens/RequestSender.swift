import Addresses
import Authorization
import Formats
import HTTPCodec

/// The sender of a request, as far as the connection identifies it.
struct RequestSender {
    let address: IPAddress?
    /// The user whose password was right.
    let user: String?
    /// The id of the test session.
    var session: String?

    /// The whole IPv6 address, as one network may have many clients; all loopback addresses are one.
    var place: IPAddress? {
        (address?.unmapped).map { $0.family == .v6 && $0.bits != 1 ? $0 : $0.clientNetwork.base }
    }

    /// Nil if nothing tells the client from others.
    func client(_ naming: TokenSettings.Naming, _ head: RequestHead) -> TokenClient? {
        switch naming {
        case .proxyUser: user.map { .user($0) }
        case .address: place.map { .address($0) }
        case .header(let name):
            head.fields[name].flatMap { value in
                value.isEmpty ? nil : .named(TokenDigest.of("\(ASCII.lowercased(name)): \(value)"))
            }
        }
    }

    /// The reason that `client` gives nil.
    static func lack(_ naming: TokenSettings.Naming) -> String {
        switch naming {
        case .proxyUser: "the client has shown no user name and password"
        case .address: "the client's address is not known"
        case .header(let name): "the request has no header \(name) that tells the client"
        }
    }
}
