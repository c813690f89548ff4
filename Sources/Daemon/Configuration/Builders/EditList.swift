internal import Declaration
internal import Interception

/// The text of `usher check --print-edits`: the catalogue of edits in words.
public enum EditList {
    /// A paragraph for each edit, with a line break at the end.
    public static var text: String { EditCatalogue.all.map(paragraph).joined(separator: "\n") + "\n" + values }

    /// The variables in values, `${…}`.
    private static let values = """
        VALUE: a text that may contain these variables, whose values depend on the exchange
            \(TemplateNames.all.joined(separator: "\n    "))
            Those of the response are for the response phase. A missing value is not written. $${ is a literal ${.

        """

    static func phases(of edit: any Edit.Type) -> [String] {
        [
            edit is any RequestEdit.Type ? "request" : nil, edit is any ResponseEdit.Type ? "response" : nil,
            edit is any ErrorEdit.Type ? "error" : nil,
        ].compactMap { $0 }
    }

    private static func paragraph(_ edit: any Edit.Type) -> String {
        let more =
            switch edit.needs {
            case .head: "changes the head"
            case .body: "changes the body"
            case .nothing: edit.isLast ? "ends the exchange" : "changes no message"
            }
        return """
            \(edit.name): \(form(edit.shape))
                under \(phases(of: edit).joined(separator: " or ")); \(more)
                \(edit.doc)

            """
    }

    /// The syntax of a value.
    private static func form(_ shape: Shape) -> String {
        switch shape {
        case .text: "TEXT"
        case .template: "VALUE"
        case .orNull(let shape): "\(form(shape)) or null"
        case .boolean: "true or false"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .integerOr(let word, let range): "\(word) or \(range.lowerBound) to \(range.upperBound)"
        case .duration: "250ms, 5s, 10m or 2h"
        case .size: "64KiB or 10MB"
        case .choice(let names): names.joined(separator: " or ")
        case .list(let element): "[\(form(element)), …]"
        case .oneOrMany(let element): "\(form(element)) or [\(form(element)), …]"
        case .object(let object): "{ \(object.keys.map(member).joined(separator: ", ")) }"
        case .map(_, let element): "{ NAME: \(form(element)), … }"
        case .either(let shape, let object): "\(form(shape)) or \(form(.object(object)))"
        case .matcher: "TEXT or [TEXT, …]"
        case .secret: "${credential.NAME}"
        case .json: "anything"
        }
    }

    /// A key of an object, in brackets if it is optional.
    private static func member(_ key: Key) -> String {
        key.isRequired ? "\(key.name): \(form(key.shape))" : "[\(key.name): \(form(key.shape))]"
    }
}
