/// By which way somebody came, and so who may ask.
public enum ControlDoor: Sendable {
    /// The Unix socket: its file says who reaches it.
    case local
    /// The same, for whoever the daemon runs as, or root.
    case owner
    /// A TCP port: everybody on the machine, or beyond, reaches it, and so does every page in a browser there.
    case network(Network)

    public struct Network: Sendable {
        /// Of this end of the connection.
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
