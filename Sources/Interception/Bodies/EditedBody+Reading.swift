public import Formats
internal import HTTPCodec

/// What conditions and templates ask of a body. Where it cannot be had, or is something else, there is nothing: a value that
/// is not there matches nothing.
extension EditedBody {
    /// The values where a JSON pointer leads, more than one where a name on the way is repeated. `JSONValue.means` compares
    /// them with what is wanted.
    public mutating func json(at pointer: JSONPointer) -> [JSONValue] {
        guard JSONEdit.concerns(type), let bytes = try? bytes() else { return [] }
        return (try? JSONText(bytes).values(at: pointer)) ?? []
    }

    /// The values of a form's field, decoded, in order.
    public mutating func formValues(named name: String) -> [String] {
        guard let type, FormEdit.concerns(type), let bytes = try? bytes() else { return [] }
        guard type.isMultipartForm else { return (try? FormEdit.pairs(bytes))?.values(named: name) ?? [] }
        return ((try? FormEdit.parts(bytes, type))?.values(named: name) ?? []).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
