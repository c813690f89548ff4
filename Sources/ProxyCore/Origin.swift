public import HTTPCodec

/// Where a request goes: the key of pooled connections.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    public var scheme: Target.Scheme
    /// Lower case, without brackets.
    public var host: String
    public var port: UInt16

    public init(scheme: Target.Scheme, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    init(_ head: RequestHead) {
        self.init(scheme: head.target.scheme, host: head.host, port: head.target.port)
    }

    /// Compares without making a `String`.
    func matches(_ head: borrowing RequestHead) -> Bool {
        head.target.port == port && head.target.scheme == scheme && head.fields.equal(head.target.host, host)
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
