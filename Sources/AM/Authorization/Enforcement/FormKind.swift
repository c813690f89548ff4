internal import Formats
internal import HTTPCodec

/// The ways in which servers may search a POST body for a parameter that overrides the method.
enum FormKind: Equatable {
    /// No server reads it as a form.
    case none
    /// The members of a JSON object, which Laravel reads as parameters.
    case json
    /// Multipart, with a type that all servers read alike.
    case parts
    /// Pairs or parts. The type says that it is a form, or is not known to be something else.
    case form

    init(_ head: RequestHead) {
        guard ASCII.equal(head.methodText, "POST") else {
            self = .none
            return
        }
        let values = Self.values(head)
        guard values.count == 1, head.fields["Content-Type"] == values[0], let type = MediaType(values[0]) else {
            self = .form
            return
        }
        let text = ASCII.lowercased(values[0])
        if type.type == "multipart" {
            self = text.contains(",") || text.contains("urlencoded") ? .form : .parts
        } else if ["form", "multipart", ","].contains(where: text.contains) {
            self = .form
        } else if type.isJSON || type.subtype == "json" {
            self = .json
        } else {
            self = Self.isOther(type) ? .none : .form
        }
    }

    private static func values(_ head: RequestHead) -> [String] {
        head.fields.lines.filter { HiddenRequest.isNamed($0.name, ["content-type"]) }.map(\.value)
    }

    private static let others: Set = [
        "xml", "octet-stream", "protobuf", "x-protobuf", "cbor", "msgpack", "x-msgpack", "pdf", "zip", "gzip", "x-gzip",
        "x-tar", "x-ndjson", "javascript", "wasm", "graphql", "sparql-query", "sparql-update", "jwt", "jose",
    ]
    private static let families = ["vnd.", "grpc", "x-git-"]

    /// True if no server is known to read parameters in a body of this type.
    private static func isOther(_ type: MediaType) -> Bool {
        switch type.type {
        case "text": true
        case "application":
            others.contains(type.subtype) || type.subtype.hasSuffix("+xml")
                || families.contains { type.subtype.hasPrefix($0) }
        default: type.isMedia
        }
    }

    /// True if the body's charset is ASCII-compatible, or not given.
    static func isPlain(_ head: RequestHead) -> Bool {
        let text = ASCII.lowercased(values(head).joined(separator: ";"))
        return text.split(separator: ";").allSatisfy { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1).map {
                $0.filter { $0 != " " && $0 != "\"" && $0 != "\t" }
            }
            guard parts.count == 2, parts[0].hasSuffix("charset") else { return true }
            return charsets.contains { parts[1].hasPrefix($0) }
        }
    }

    private static let charsets = ["utf-8", "utf8", "us-ascii", "iso-8859-", "latin1", "windows-125"]
}
