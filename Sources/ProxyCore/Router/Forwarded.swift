import Addresses
import Formats
import HTTPCodec

/// `forwarded:` of the configuration: whether origins are told on whose behalf a request comes.
public enum ForwardedField: String, CaseIterable, Sendable {
    case none
    /// `Forwarded` (RFC 7239).
    case forwarded
    /// `X-Forwarded-For`, `-Proto` and `-Host`.
    case xForwardedFor = "x-forwarded-for"
}

/// What this hop adds to what earlier ones said.
struct ForwardedElement {
    var client: IPAddress
    /// The proxy's own address on the client's side, where it is known.
    var by: IPAddress?
    var scheme: Target.Scheme
    /// The authority that the client asked for.
    var host: String

    /// Takes the fields of its kind out of the head and gives the lines that stand in their place, those of earlier hops
    /// first. Lines, not fields: a client that names them in `Connection` must not get rid of them.
    func take(_ kind: ForwardedField, from head: inout RequestHead) -> [UInt8] {
        var lines: [UInt8] = []
        func write(_ name: StaticString, _ value: String) {
            let name = name.description
            let earlier = head.fields.values(named: name).filter { !$0.isEmpty }
            head.fields.remove(named: name)
            lines.append(contentsOf: "\(name): \((earlier + [value]).joined(separator: ", "))\r\n".utf8)
        }
        switch kind {
        case .none: break
        case .forwarded: write("Forwarded", text)
        case .xForwardedFor:
            write("X-Forwarded-For", client.description)
            write("X-Forwarded-Proto", scheme.name)
            write("X-Forwarded-Host", host)
        }
        return lines
    }

    /// `for=192.0.2.1;by=192.0.2.2;proto=http;host=example.com` (RFC 7239 §4).
    private var text: String {
        var parts = ["for=\(Self.node(client))"]
        if let by { parts.append("by=\(Self.node(by))") }
        parts.append("proto=\(scheme.name)")
        parts.append("host=\(Self.value(host))")
        return parts.joined(separator: ";")
    }

    /// An IPv6 address stands in brackets, and therefore in quotes (§6).
    private static func node(_ address: IPAddress) -> String {
        address.family == .v6 ? "\"[\(address)]\"" : address.description
    }

    private static func value(_ text: String) -> String {
        text.utf8.allSatisfy(ASCII.isToken) && !text.isEmpty ? text : "\"\(OwnResponse.quoted(text))\""
    }
}
