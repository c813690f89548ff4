internal import HTTPCodec

/// The parts of an exchange that the templates of an edit list read.
struct TemplateNeeds: Sendable {
    /// Whether each edit has templates; empty if none has.
    private let places: [Bool]
    let requestBody: Bool
    let responseBody: Bool

    init(_ edits: [any Edit]) {
        let templates = edits.map(\.templates)
        places = templates.allSatisfy(\.isEmpty) ? [] : templates.map { !$0.isEmpty }
        requestBody = templates.joined().readsRequestBody
        responseBody = templates.joined().readsResponseBody
    }

    /// Whether the edit at this position has templates.
    func concern(_ place: Int) -> Bool { !places.isEmpty && places[place] }

    /// Whether a body with such a head may contain values.
    static func mayRead(_ fields: FieldTable) -> Bool {
        JSONEdit.concerns(fields["Content-Type"].flatMap { MediaType($0) })
    }
}
