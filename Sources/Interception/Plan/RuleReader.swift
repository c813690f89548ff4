public import Declaration
public import Interceptors

/// What the readers of one rule's values share: whose they are, and where faults are told.
public struct RuleReader {
    public let findings: Findings
    /// What is read, for messages: `interceptor english`.
    public var owner: String
    /// Of the list that is read.
    public var phase = EditPhase.request
    /// Of the chain that the rule is part of.
    public var chain = ChainRules()
    /// What the program registers, by name.
    public let interceptors: [String: any Interceptor]
    /// The bytes of a file that the configuration names; nil where it cannot be had, which the findings have been told.
    private let readFile: (Decoded) -> [UInt8]?

    /// A file may have so many bytes.
    public static let largestFile = 1 << 20

    public init(
        findings: Findings, owner: String = "", interceptors: [String: any Interceptor] = [:],
        readFile: @escaping (Decoded) -> [UInt8]? = { _ in nil }
    ) {
        self.interceptors = interceptors
        self.findings = findings
        self.owner = owner
        self.readFile = readFile
    }

    func file(_ value: Decoded) -> [UInt8]? {
        guard let bytes = readFile(value) else { return nil }
        guard bytes.count <= Self.largestFile else {
            findings.error(value.position, "this file is larger than \(Self.largestFile >> 20) MiB")
            return nil
        }
        return bytes
    }

    /// Compiles what stands behind the `~`, and tries it.
    /// - Parameter key: what it is the value or the key of.
    public func pattern(_ text: String, _ position: Position, _ written: String, _ key: String) -> Pattern? {
        do {
            let place = "\(owner), \(key), \(findings.place(position))"
            let pattern = try Pattern(
                String(text.dropFirst()), written: String(written.drop { $0 == "~" }), place: place)
            if let limit = PatternProbe.limit(of: pattern) {
                findings.warning(
                    position,
                    "this pattern can be made to think for long: it reaches its limit of \(limit.rawValue) on a text that is made for it, and does not match then; write no repeat within a repeat, as in (a+)+, nor two in a row that fit the same text, few alternatives, and begin with ^"
                )
            }
            return pattern
        } catch {
            // the library's words may quote the expression, and so a secret that was put into it
            let detail = written.contains("${") ? "" : ": \(Findings.quoted(String(describing: error)))"
            findings.error(position, "the text behind ~ is no regular expression\(detail)")
            return nil
        }
    }

    // MARK: values of one kind

    /// Names or globs of what is to go.
    func names(_ value: Decoded) -> [String] {
        if value.isEmptyList { findings.error(value.position, "an empty list removes nothing; remove the edit") }
        return value.list.compactMap(\.text)
    }

    /// - Parameter place: where the value of a name goes.
    func pairs(_ value: Decoded, _ place: (String) -> TemplatePlace) -> [Pair] {
        let fields = value.fields
        if fields?.written.isEmpty == true {
            findings.error(
                value.position, "an edit without a name changes nothing; write { NAME: value } or remove the edit")
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

/// Shapes that edits have in common.
extension Shape {
    static let namesOrGlobs = Shape.oneOrMany(.text(.name))
    static let headers = Shape.map(.headerName, .template(.headerValue))
    static let parameters = Shape.map(.name, .template(.any))
}
