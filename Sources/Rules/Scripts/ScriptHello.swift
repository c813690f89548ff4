internal import Formats

/// The first frame of a script: the version of the protocol, and what it wants to see.
public struct ScriptHello: Equatable, Sendable {
    public static let version = 1

    public var phases: Set<ScriptTerms.Phase>
    public var needs: ScriptTerms.Needs
    /// Whether it takes large bodies from files.
    public var files = false

    public init(phases: Set<ScriptTerms.Phase>, needs: ScriptTerms.Needs) {
        self.phases = phases
        self.needs = needs
    }

    /// - Parameter text: the JSON text of a frame.
    public init(_ text: ArraySlice<UInt8>) throws(FrameFault) {
        let fields = try ScriptFields(text, "the hello")
        try fields.accept(["hello"])
        let hello = try ScriptFields(fields["hello"], "hello")
        try hello.accept(["protocol", "phases", "needs", "files"])
        guard let version = hello["protocol"]?.integer else {
            throw FrameFault(words: "hello has no protocol, such as \(Self.version)")
        }
        guard version == Self.version else {
            throw FrameFault(words: "the script speaks protocol \(version), and this Usher \(Self.version)")
        }
        phases = []
        for name in try hello.list("phases") ?? [.string("request")] {
            guard let phase = name.text.flatMap(ScriptTerms.Phase.init) else {
                throw FrameFault(words: "hello has phases of request and response")
            }
            phases.insert(phase)
        }
        guard !phases.isEmpty else { throw FrameFault(words: "hello has no phase; the script has nothing to do") }
        guard let needs = ScriptTerms.Needs(rawValue: try hello.text("needs") ?? "head") else {
            throw FrameFault(words: "hello needs head or body")
        }
        self.needs = needs
        switch hello["files"] {
        case nil: break
        case .bool(let files): self.files = files
        default: throw FrameFault(words: "hello has files as true or false")
        }
    }

    /// The reason why these terms do not give the script what it wants; nil if they do.
    public func lack(in terms: ScriptTerms) -> String? {
        let missing = phases.subtracting(terms.phases)
        if !missing.isEmpty {
            let names = ScriptTerms.Phase.allCases.filter(phases.contains).map(\.rawValue)
            return
                "it wants the phases \(names.joined(separator: ", ")); write phases: [\(names.joined(separator: ", "))]"
        }
        if needs == .body, terms.needs == .head { return "it wants bodies; write needs: body" }
        return nil
    }

    /// The phases that the configuration gives it and that it does not want.
    public func surplus(in terms: ScriptTerms) -> [String] {
        ScriptTerms.Phase.allCases.filter { terms.phases.contains($0) && !phases.contains($0) }.map(\.rawValue)
    }
}
