public import Declaration
public import HTTPCodec

/// `rewrite_url`. Expressions run in order, each on the result of the one before.
public struct RewriteURL: RequestEdit {
    public static let name = "rewrite_url"
    public static let mayStandIn = true
    public static let doc = "Replaces the matches of \"~pattern\" in the whole URL. $1 is the first group."
    public static let shape = Shape.map(.name, .text(.any))

    /// The longest rewritten URL in bytes; a URL may also grow to twice its length.
    private static let longest = 64 << 10

    public let rewrites: [(pattern: Pattern, replacement: String)]

    public init(_ pattern: Pattern, _ replacement: String) { rewrites = [(pattern, replacement)] }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        rewrites = (value.fields?.all ?? []).compactMap { field in
            guard field.name.hasPrefix("~") else {
                reader.findings.error(
                    field.position,
                    "rewrite_url takes a regular expression after ~ as key, found \"\(Findings.quoted(field.name))\"",
                    nearest: "~\(field.name)")
                return nil
            }
            guard let pattern = reader.pattern(field.name, field.position, field.name, Self.name) else { return nil }
            return field.value.text.map { (pattern, $0) }
        }
    }

    public var patterns: [Pattern] { rewrites.map(\.pattern) }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        var notes: [String] = []
        for (pattern, replacement) in rewrites {
            guard let url = try Self.rewritten(head.url, pattern, replacement) else {
                notes.append("found nothing to rewrite in the URL")
                continue
            }
            try URLEdit.retarget(&head, url)
            notes.append("rewrote URL to \(URLEdit.place(head))")
        }
        return .changed(notes)
    }

    private static func rewritten(
        _ url: String, _ pattern: Pattern, _ replacement: String
    ) throws(EditFault) -> String? {
        let bound = max(longest, 2 * url.utf8.count)
        do {
            return try pattern.replacing(in: url, with: replacement, bound: bound)
        } catch {
            throw EditFault(reason: "the rewritten URL would be longer than \(bound) bytes")
        }
    }
}
