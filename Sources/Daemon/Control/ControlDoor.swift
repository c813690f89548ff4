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

        public init(address: String, port: UInt16, token: ControlToken) {
            self.address = address
            self.port = port
            self.token = token
        }
    }
}
