import Addresses
import Formats
import HTTPCodec

/// `forwarded:` of the configuration: the field that tells origins about the client.
public enum ForwardedField: String, CaseIterable, Sendable {
    case none
    /// `Forwarded` (RFC 7239).
    case forwarded
    /// `X-Forwarded-For`, `-Proto` and `-Host`.
    case xForwardedFor = "x-forwarded-for"
}

/// The information that this hop adds to the field.
struct ForwardedElement {
    var client: IPAddress
    /// The proxy's own address on the client's side, if known.
    var by: IPAddress?
    var scheme: Target.Scheme
    /// The authority that the client asked for.
    var host: String

    /// Removes the field from the head and returns its lines, with those of earlier hops first. They are lines
    /// rather than fields, because a client could otherwise remove them by naming them in `Connection`.
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

    /// An IPv6 address is in brackets, and therefore in quotes (RFC 7239 §6).
    private static func node(_ address: IPAddress) -> String {
        address.family == .v6 ? "\"[\(address)]\"" : address.description
    }

    private static func value(_ text: String) -> String {
        text.utf8.allSatisfy(ASCII.isToken) && !text.isEmpty ? text : "\"\(OwnResponse.quoted(text))\""
    }
}
