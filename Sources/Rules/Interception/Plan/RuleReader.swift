public import Declaration
public import Interceptors
public import Scripts

/// The context in which the values of one rule are read: its name, its chain and the findings.
public struct RuleReader {
    public let findings: Findings
    /// The owner for messages: `interceptor english`.
    public var owner: String
    /// The phase of the list that is being read.
    public var phase = EditPhase.request
    /// The chain that the rule belongs to.
    public var chain = ChainRules()
    /// The Swift interceptors that the program registers, by name.
    public let interceptors: [String: any Interceptor]
    /// Reads a file named by the configuration; nil if it cannot be read, which is recorded as a finding.
    private let readFile: (Decoded) -> [UInt8]?
    /// Reads a recording in a folder, for a mode, and begins answers from it; nil if it cannot be read, which is recorded as a
    /// finding.
    let recording: (Decoded, String) -> (@Sendable () -> any RequestInterceptor)?
    /// The script with these terms; nil if it may not run here, which is recorded as a finding.
    let script: (ScriptTerms, _ name: String, Position) -> ScriptLine?

    /// The largest file, in bytes.
    public static let largestFile = 1 << 20

    public init(
        findings: Findings, owner: String = "", interceptors: [String: any Interceptor] = [:],
        readFile: @escaping (Decoded) -> [UInt8]? = { _ in nil },
        recording: @escaping (Decoded, String) -> (@Sendable () -> any RequestInterceptor)? = { _, _ in nil },
        script: @escaping (ScriptTerms, _ name: String, Position) -> ScriptLine? = { _, _, _ in nil }
    ) {
        self.script = script
        self.recording = recording
        self.interceptors = interceptors
        self.findings = findings
        self.owner = owner
        self.readFile = readFile
    }

    /// The name of the interceptor that is being read.
    var interceptor: String { String(owner.dropFirst("interceptor ".count)) }

    func file(_ value: Decoded) -> [UInt8]? {
        guard let bytes = readFile(value) else { return nil }
        guard bytes.count <= Self.largestFile else {
            findings.error(value.position, "this file is larger than \(Self.largestFile >> 20) MiB")
            return nil
        }
        return bytes
    }

    /// Compiles and tries the expression after the `~`.
    /// - Parameter key: the key that the expression belongs to.
    public func pattern(_ text: String, _ position: Position, _ written: String, _ key: String) -> Pattern? {
        do {
            let place = "\(owner), \(key), \(findings.place(position))"
            let pattern = try Pattern(
                String(text.dropFirst()), written: String(written.drop { $0 == "~" }), place: place)
            if let limit = PatternProbe.limit(of: pattern) {
                findings.warning(
                    position,
                    "some texts take this pattern to its limit of \(limit.rawValue), and then it does not match; avoid nested repeats such as (a+)+ and adjacent repeats of the same text, use few alternatives, and begin with ^"
                )
            }
            return pattern
        } catch {
            // the library's message may quote the expression, and so a secret that was substituted into it
            let detail = written.contains("${") ? "" : ": \(Findings.quoted(String(describing: error)))"
            findings.error(position, "the text after ~ is not a valid regular expression\(detail)")
            return nil
        }
    }

    // MARK: values

    /// Names or globs of the things to remove.
    func names(_ value: Decoded) -> [String] {
        if value.isEmptyList { findings.error(value.position, "an empty list has no effect; remove the edit") }
        return value.list.compactMap(\.text)
    }

    /// - Parameter place: maps a name to the place of its value.
    func pairs(_ value: Decoded, _ place: (String) -> TemplatePlace) -> [Pair] {
        let fields = value.fields
        if fields?.written.isEmpty == true {
            findings.error(
                value.position, "an edit without a name has no effect; write { NAME: value } or remove the edit")
        }
        return pairs(fields, place)
    }

    func pairs(_ fields: Fields?, _ place: (String) -> TemplatePlace) -> [Pair] {
        (fields?.all ?? []).compactMap { field in
            if let text = field.value.text { return Pair(field.name, text) }
            return template(field.value, place(field.name)).map { Pair(field.name, "", template: $0) }
        }
    }

    func headers(_ value: Decoded) -> [Pair] {
        checkWritable(value.fields)
        return pairs(value) { TemplatePlace(header: $0) }
    }

    func checkWritable(_ fields: Fields?) {
        for field in fields?.all ?? [] where !HeaderRules.isWritable(field.name) {
            findings.error(
                field.position,
                "\(field.name) frames a message or concerns one connection, so Usher writes it itself; remove it here")
        }
    }
}

/// Shapes that several edits use.
extension Shape {
    static let namesOrGlobs = Shape.oneOrMany(.text(.name))
    static let headers = Shape.map(.headerName, .template(.headerValue))
    static let parameters = Shape.map(.name, .template(.any))
}
