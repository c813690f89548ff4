/// The way a client has connected, which decides about its access.
public enum ControlDoor: Sendable {
    /// The Unix socket. The permissions of its file control access.
    case local
    /// The Unix socket, used by the daemon's user or root.
    case owner
    /// A TCP port. Every user of the machine can reach it, perhaps other machines, and every page in a browser there.
    case network(Network)

    public struct Network: Sendable {
        /// The local address of the connection.
        public var address: String
        public var port: UInt16
        public var token: ControlToken
        /// The token that makes a client the owner, at the port of the page; nil elsewhere.
        public var ownerToken: ControlToken?

        public init(address: String, port: UInt16, token: ControlToken, ownerToken: ControlToken? = nil) {
            self.address = address
            self.port = port
            self.token = token
            self.ownerToken = ownerToken
        }

        /// Where a client has the token from.
        var source: String { ownerToken == nil ? "admin.token" : "the page (usher ui)" }
    }

    /// What a request has to know of its door.
    public enum Entrance: String, Sendable {
        case socket = "the control socket"
        case port = "admin.listen"
        case page = "the page"
    }

    var entrance: Entrance {
        switch self {
        case .local, .owner: .socket
        case .network(let network): network.ownerToken == nil ? .port : .page
        }
    }
}
