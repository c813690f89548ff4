/// A configured value with variables, `${…}`, that each exchange fills in. Inserted text is not expanded again.
public struct Template: Equatable, Sendable {
    enum Part: Equatable, Sendable {
        case text(String)
        /// - isQuoted: the variable is inside quotation marks.
        case value(TemplateSource, isQuoted: Bool)
    }

    let parts: [Part]
    let place: TemplatePlace

    init(_ parts: [Part], _ place: TemplatePlace) {
        self.parts = parts
        self.place = place
    }

    var sources: [TemplateSource] {
        parts.compactMap { if case .value(let source, _) = $0 { source } else { nil } }
    }
}

extension Sequence<Template> {
    var readsRequestBody: Bool {
        contains { $0.sources.contains { if case .requestJSON = $0 { true } else { false } } }
    }

    var readsResponseBody: Bool {
        contains { $0.sources.contains { if case .responseJSON = $0 { true } else { false } } }
    }
}
