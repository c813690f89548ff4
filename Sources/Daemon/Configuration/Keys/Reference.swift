internal import Declaration
internal import Interception

/// The page docs/reference.md: every key of the configuration, generated from the key table.
public enum Reference {
    /// Markdown with a line break at the end.
    public static var text: String {
        head + "\n"
            + ObjectShape.places.filter { !otherPhases.contains($0.object) }.map(section).joined(separator: "\n")
    }

    private static let head = """
        # Reference

        Every key of `usher.yaml`, with its default. [Configuration](configuration.md) says what the sections are for.
        `tls.ca` is the map under `ca` in `tls`. `am[]` is an entry of the list `am`.

        `make schema` writes this page from the code.

        """

    // MARK: sections

    /// Their edits stand in one table with those of the request.
    private static let otherPhases: [ObjectShape] = [KeyTable.responseEdit, KeyTable.errorEdit]

    private static func section(_ object: ObjectShape, _ path: String) -> String {
        let title = "\(String(repeating: "#", count: min(2 + path.count { $0 == "." }, 4))) \(title(object, path))\n\n"
        guard object == KeyTable.requestEdit else {
            return title + table("default", object.keys.map { ($0, $0.isRequired ? "required" : code($0.standard)) })
        }
        let edits = EditCatalogue.all.map { edit in
            (Key(edit.name, edit.shape, edit.doc), EditList.phases(of: edit).joined(separator: ", "))
        }
        return title + table("under", edits)
    }

    private static func title(_ object: ObjectShape, _ path: String) -> String {
        switch object {
        case KeyTable.root: "The file"
        case KeyTable.condition: "Conditions"
        case KeyTable.requestEdit, KeyTable.responseEdit, KeyTable.errorEdit: "Edits"
        default: path
        }
    }

    private static func table(_ third: String, _ rows: [(key: Key, third: String)]) -> String {
        "| key | value | \(third) | meaning |\n| --- | --- | --- | --- |\n"
            + rows.map { "| `\($0.key.name)` | \(words($0.key.shape)) | \($0.third) | \(plain($0.key.doc)) |\n" }
            .joined()
    }

    // MARK: values

    private static func words(_ shape: Shape) -> String {
        switch shape {
        case .orNull(let shape): "\(words(shape)), or null"
        case .list(let element): "list: \(words(element))"
        case .oneOrMany(let element): "\(words(element)); or a list"
        case .matcher: "text; or a list"
        case .object(let object): link(object)
        case .map(_, let element): "map of names to: \(words(element))"
        case .either(let shape, let object): "\(words(shape)); or \(link(object))"
        default: plain(shape.expectation(withExamples: false))
        }
    }

    private static func link(_ object: ObjectShape) -> String {
        let path = ObjectShape.places.first { $0.object == object }?.path ?? ""
        return "[map](#\(title(object, path).lowercased().filter { $0.isLetter || $0.isNumber || $0 == "_" }))"
    }

    private static func code(_ text: String?) -> String { text.map { "`\($0)`" } ?? "" }

    /// Text without a meaning for Markdown.
    private static func plain(_ text: String) -> String {
        text.reduce(into: "") { $0 += "*|<_".contains($1) ? "\\\($1)" : "\($1)" }
    }
}
