public import Configuration
internal import Formats

/// What a test brings to the sandbox: users, clients, policies and trees, in one document. They come before those that are built in.
public struct SandboxDocument: Sendable {
    /// The lists of the document. Each has a key whose value is unique.
    enum Section: String, CaseIterable, Sendable {
        case users, clients, policies, trees

        /// The key that names an entry.
        var id: String { self == .clients ? "id" : "name" }
    }

    /// The document as it was written, without comments.
    let json: JSONValue
    let users: [Directory.User]
    let clients: [Directory.Client]
    let policies: [Policy]
    let trees: [Tree]
    /// Nil for that of the options.
    let lockout: Lockout?

    struct Lockout: Sendable {
        /// The failures in a row before a lockout.
        var limit: Int
        /// Seconds.
        var hold: Int
    }

    /// A policy for paths below `/shop`.
    struct Policy: Sendable {
        /// A glob over the path, decoded and in lower case.
        var path: String
        var protection: Protection
    }

    public init() {
        (json, users, clients, policies, trees, lockout) = (Self.empty, [], [], [], [], nil)
    }

    init(
        _ json: JSONValue, users: [Directory.User], clients: [Directory.Client], policies: [Policy], trees: [Tree],
        lockout: Lockout?
    ) {
        // every section is there, so that whoever reads the document sees them all
        self.json = json.merged(into: Self.empty)
        (self.users, self.clients, self.policies) = (users, clients, policies)
        (self.trees, self.lockout) = (trees, lockout)
    }

    private static let empty = JSONValue.object(Section.allCases.map { .init($0.rawValue, []) })

    /// Reads a file.
    /// - Parameters:
    ///   - realms: the realms that there are.
    ///   - environment: the variables of `${env.NAME}`.
    public static func load(
        path: String, realms: [String], environment: [String: String]
    ) -> Result<SandboxDocument, ConfigurationFaults> {
        ShapedText.load(path: path, .sandboxDocument, environment: environment) {
            DocumentReader(findings: $2, realms: realms).document($0, $1)
        }
    }

    static func read(_ text: String, realms: [String]) -> Result<SandboxDocument, ConfigurationFaults> {
        ShapedText.read(ConfigurationSource(text: text, file: "body"), .sandboxDocument) {
            DocumentReader(findings: $2, realms: realms).document($0, $1)
        }
    }

    // MARK: entries

    func entries(_ section: Section) -> [JSONValue] { json[section.rawValue]?.items ?? [] }

    func entry(_ section: Section, _ id: String) -> JSONValue? {
        entries(section).first { $0[section.id]?.written == id }
    }

    /// The document with another entry of this name, or without it.
    func json(_ section: Section, _ id: String, _ entry: JSONValue?) -> JSONValue {
        var items = entries(section)
        let place = items.firstIndex { $0[section.id]?.written == id }
        if let place { items.remove(at: place) }
        if let entry { items.insert(entry, at: place ?? items.endIndex) }
        var changed = json
        changed[section.rawValue] = .array(items)
        return changed
    }
}

extension JSONValue {
    /// A name as text, also where it was written as a number.
    fileprivate var written: String? { if case .number(let text) = self { text } else { text } }

    /// The value as a merge patch of another one (RFC 7396).
    func merged(into target: JSONValue?) -> JSONValue {
        guard let members else { return self }
        var result = target?.members == nil ? JSONValue.object([]) : target ?? .null
        for member in members {
            if case .null = member.value {
                result[member.name] = nil
            } else {
                result[member.name] = member.value.merged(into: result[member.name])
            }
        }
        return result
    }
}
