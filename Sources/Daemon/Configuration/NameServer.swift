internal import Addresses

/// An entry of `names.servers`: an address with or without a port.
struct NameServer: CustomStringConvertible {
    let address: IPAddress
    let port: UInt16

    /// Parses `192.0.2.53`, `2001:db8::53`, `192.0.2.53:5353` and `[2001:db8::53]:5353`.
    init?(_ text: String) {
        if let address = IPAddress(text) {
            self.address = address
            port = 53
            return
        }
        guard let listener = Listener(text), !listener.isSecure, listener.port != 0,
            !text.contains("/")
        else { return nil }
        address = listener.address
        port = listener.port
    }

    var description: String { address.text(withPort: port) }
}
