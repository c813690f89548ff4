public import Declaration
import Formats
public import HTTPCodec

/// `set_host`.
public struct SetHost: RequestEdit {
    public static let name = "set_host"
    public static let doc = "Replaces host and port."
    public static let shape = Shape.text(.authority)

    public let host: String

    public init(_ host: String) { self.host = host }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let host = value.text else { return nil }
        self.init(host)
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        try HeaderEdit.checkHost(host)
        // a host without a port keeps the port that the URL names
        let hasPort = host.utf8.last != 0x5D && host.utf8.contains(ASCII.colon)
        let old = head.target
        let kept = hasPort || old.port == old.scheme.defaultPort ? "" : ":\(old.port)"
        try URLEdit.retarget(&head, "\(old.scheme.name)://\(host)\(kept)\(head.fields.text(old.pathAndQuery))")
        return .changed(["set host to \(head.fields.text(head.target.authority))"])
    }
}

extension Edit where Self == SetHost {
    public static func setHost(_ host: String) -> Self { SetHost(host) }
}
