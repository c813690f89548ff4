public import Declaration
internal import Formats
internal import HTTPCodec

/// Code shared by the edits of JSON.
enum JSONEdit {
    /// Accepts every type that may be text: many servers send JSON without a type, or with a wrong one.
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
    /// A JSON pointer (RFC 6901).
    public static let jsonPointer = TextFormat(
        "a JSON pointer, such as /amount or /items/0/id, with ~1 for a slash in a name and ~0 for a tilde",
        pattern: "^(/([^~]|~[01])*)?$", isPublic: true
    ) { JSONPointer($0) != nil }
}
