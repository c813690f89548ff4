public import Declaration
internal import Formats
internal import HTTPCodec

/// What the edits of JSON have in common.
enum JSONEdit {
    /// Anything that a program might read as text: many say nothing of JSON, or something else.
    static func concerns(_ type: MediaType?) -> Bool {
        type.map { !$0.isMedia && $0.type != "multipart" && !$0.isEventStream } ?? true
    }

    static func edit(
        _ body: inout EditedBody, _ change: (inout JSONText) throws(JSONEditFault) -> [String]
    ) throws(BodyFault) -> [String] {
        var text = JSONText(try body.bytes())
        let notes: [String]
        do throws(JSONEditFault) {
            notes = try change(&text)
        } catch {
            throw .unusable(error.explanation)
        }
        try body.replace(with: text.bytes)
        return notes
    }
}

extension TextFormat {
    /// RFC 6901.
    public static let jsonPointer = TextFormat(
        "a JSON pointer, such as /amount or /items/0/id, with ~1 for a slash in a name and ~0 for a tilde",
        pattern: "^(/([^~]|~[01])*)?$", isPublic: true
    ) { JSONPointer($0) != nil }
}
