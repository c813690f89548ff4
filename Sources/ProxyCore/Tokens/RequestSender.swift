import Addresses
import Authorization
import Formats
import HTTPCodec

/// Who sends a request, as far as the connection tells.
struct RequestSender {
    let address: IPAddress?
    /// Whose password was right.
    let user: String?

    /// The whole of an IPv6 address, for a network may have many clients; all of loopback is one.
    var place: IPAddress? {
        (address?.unmapped).map { $0.family == .v6 && $0.bits != 1 ? $0 : $0.clientNetwork.base }
    }

    /// Nil where nothing tells the client from others.
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

    /// Why there is none.
    static func lack(_ naming: TokenSettings.Naming) -> String {
        switch naming {
        case .proxyUser: "the client has shown no user name and password"
        case .address: "the client's address is not known"
        case .header(let name): "the request has no header \(name) that tells the client"
        }
    }
}
