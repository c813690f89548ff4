internal import HTTPCodec

/// What the templates in a list of edits ask for.
struct TemplateNeeds: Sendable {
    /// One for each edit; empty where none has any.
    private let places: [Bool]
    let requestBody: Bool
    let responseBody: Bool

    init(_ edits: [any Edit]) {
        let templates = edits.map(\.templates)
        places = templates.allSatisfy(\.isEmpty) ? [] : templates.map { !$0.isEmpty }
        requestBody = templates.joined().readsRequestBody
        responseBody = templates.joined().readsResponseBody
    }

    /// Whether the edit of that number has some.
    func concern(_ place: Int) -> Bool { !places.isEmpty && places[place] }

    /// Whether there may be values in a body with such a head.
    static func mayRead(_ fields: FieldTable) -> Bool {
        JSONEdit.concerns(fields["Content-Type"].flatMap { MediaType($0) })
    }
}
