internal import Configuration
internal import Declaration
internal import Formats
internal import HTTPCodec

/// `/sandbox/admin/…`: reads and changes the document of the sandbox.
///
/// | Path under `/sandbox/admin` | Methods |
/// |---|---|
/// | `document` | GET; PUT replaces it, and the sandbox starts afresh |
/// | `reset` | POST: the document of the start, and the sandbox starts afresh |
/// | `users`, `clients`, `policies`, `trees` | GET |
/// | the same and a name | GET, PUT, PATCH (RFC 7396), DELETE |
extension SandboxServer {
    mutating func administer(_ request: SandboxRequest) -> SandboxResponse {
        guard options.hasAdmin else {
            return .fault(404, "The admin API is off; start the sandbox with --admin", note: "no --admin")
        }
        // a page in a browser sends it; pages have no business here
        guard request.head.fields["Origin"] == nil else {
            return .fault(403, "The admin API takes no requests of pages", note: "a request of a page")
        }
        let segments = Array(request.segments.dropFirst(2))
        if segments == ["document"] { return wholeDocument(request) }
        if segments == ["reset"] {
            guard request.head.method == .post else { return .methodNotAllowed("POST") }
            begin(options.document)
            return .json(200, document.json, note: "reset")
        }
        guard let name = segments.first, segments.count <= 2, let section = SandboxDocument.Section(rawValue: name)
        else {
            return .notFound(request, note: "no such part of the admin API")
        }
        guard segments.count == 2 else {
            guard request.reads else { return .methodNotAllowed("GET") }
            return .json(200, .array(document.entries(section)), note: "\(name) read")
        }
        return entry(request, section, segments[1])
    }

    private mutating func wholeDocument(_ request: SandboxRequest) -> SandboxResponse {
        if request.reads { return .json(200, document.json, note: "document read") }
        guard request.head.method == .put else { return .methodNotAllowed("GET, PUT") }
        switch SandboxDocument.read(request.text, realms: options.realms) {
        case .failure(let faults): return .refused(faults) { "\($0)" }
        case .success(let new):
            begin(new)
            return .json(200, new.json, note: "another document")
        }
    }

    private mutating func entry(
        _ request: SandboxRequest, _ section: SandboxDocument.Section, _ id: String
    ) -> SandboxResponse {
        let old = document.entry(section, id)
        let missing = SandboxResponse.fault(404, "There is no \(section.rawValue)/\(id)")
        switch request.head.method {
        case .get, .head: return old.map { .json(200, $0, note: "\(section.rawValue) read") } ?? missing
        case .put:
            let read = ShapedText.read(ConfigurationSource(text: request.text, file: "body"), section.shape) {
                _, json, _ in json
            }
            switch read {
            case .failure(let faults): return .refused(faults) { "\($0)" }
            case .success(let new): return change(section, id, to: new, from: old)
            }
        case .patch:
            guard let old else { return missing }
            guard let patch = try? JSONValue(parsing: request.body), patch.members != nil else {
                return .fault(400, "The body is not a JSON object")
            }
            return change(section, id, to: patch.merged(into: old), from: old)
        case .delete: return old == nil ? missing : change(section, id, to: nil, from: old)
        default: return .methodNotAllowed("GET, PUT, PATCH, DELETE")
        }
    }

    private mutating func change(
        _ section: SandboxDocument.Section, _ id: String, to new: JSONValue?, from old: JSONValue?
    ) -> SandboxResponse {
        let place = "\(section.rawValue)/\(id)"
        guard new.map({ $0[section.id]?.text == id }) ?? true else {
            return .fault(400, "The \(section.id) in the body is not that of the URL, \(id)")
        }
        switch SandboxDocument.read(document.json(section, id, new).serialized, realms: options.realms) {
        // the text that was read is no one's, so its places tell nothing
        case .failure(let faults): return .refused(faults) { $0.words }
        case .success(let changed):
            adopt(changed)
            let words = new == nil ? "deleted" : old == nil ? "made" : "changed"
            return .json(old == nil ? 201 : 200, new ?? old ?? .null, note: "\(place) \(words)")
        }
    }
}

extension SandboxDocument.Section {
    /// The shape of an entry.
    fileprivate var shape: ObjectShape {
        switch self {
        case .users: .sandboxUser
        case .clients: .sandboxClient
        case .policies: .sandboxPolicy
        case .trees: .sandboxTree
        }
    }
}

extension SandboxRequest {
    /// The body as YAML. Its reader takes no surrogate pairs, which JSON may have.
    fileprivate var text: String {
        let text = String(decoding: body, as: UTF8.self)
        return text.contains("\\u") ? (try? JSONValue(parsing: body))?.serialized ?? text : text
    }
}

extension SandboxResponse {
    fileprivate static func refused(_ faults: ConfigurationFaults, _ words: (Diagnostic) -> String) -> SandboxResponse {
        let lines = faults.diagnostics.map(words)
        return .fault(400, lines.first ?? "", detail: ["faults": .strings(lines)], note: "\(lines.count) faults")
    }
}
