public import Declaration
import Formats
public import HTTPCodec

/// `set_host`.
public struct SetHost: RequestEdit {
    public static let name = "set_host"
    public static let mayStandIn = true
    public static let doc = "Replaces host and port."
    public static let shape = Shape.template(.authority)

    public let host: String
    private let template: Template?

    public init(_ host: String) { self.init(host, nil) }

    private init(_ host: String, _ template: Template?) {
        self.host = host
        self.template = template
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        let template = reader.template(value, .host)
        guard template != nil || value.text != nil else { return nil }
        self.init(value.text ?? "", template)
    }

    public var templates: [Template] { [template].compactMap { $0 } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        guard let template else { return self }
        return try filler.text(template, "the host").map { Self($0) }
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
