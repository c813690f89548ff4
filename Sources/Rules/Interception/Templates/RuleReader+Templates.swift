internal import Declaration

/// The message that a list of edits applies to.
public enum EditPhase: Sendable {
    case request, response
}

/// Reads values with `${…}`.
extension RuleReader {
    /// The template of a value; nil for a constant.
    func template(_ value: Decoded, _ place: TemplatePlace) -> Template? {
        guard let parts = value.parts else { return nil }
        var quotes = Quotes()
        return Template(
            parts.compactMap { part in
                switch part {
                case .text(let text):
                    if place == .header { quotes.pass(text) }
                    return .text(text)
                case .place(let name):
                    return source(name, value.position).map { .value($0, isQuoted: quotes.areOpen) }
                }
            }, place)
    }

    private func source(_ name: String, _ position: Position) -> TemplateSource? {
        do throws(TemplateSource.Fault) {
            let source = try TemplateSource(name)
            guard !source.needsResponse || phase == .response else {
                findings.error(
                    position, "${\(source.name)} belongs to the response; use it under response")
                return nil
            }
            return source
        } catch {
            switch error {
            case .unnamed(let kind, let takes):
                findings.error(position, "${\(kind).…} takes \(takes) after the dot")
            case .unknown:
                let nearest = Self.nearest(name)
                let known =
                    nearest == nil
                    ? "; known are \(TemplateNames.all.joined(separator: ", ")), ${env.NAME}, ${credential.NAME} and ${file:PATH}"
                    : ""
                findings.error(
                    position, "there is no such value\(known); write $${ for \"${\" itself", nearest: nearest)
            }
            return nil
        }
    }

    /// The source that was likely meant. Nothing more is quoted, because the text may be part of a password that contains `${`.
    private static func nearest(_ name: String) -> String? {
        let words = name.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        let known = TemplateSource.rows.map(\.kind) + ["env", "credential", "file"]
        let two = words.prefix(2).joined(separator: ".")
        return [two, String(words.first ?? "")].lazy.compactMap { Nearest.name(to: $0, among: known) }.first
    }

    /// Tracks whether the text is inside quotation marks.
    private struct Quotes {
        private(set) var areOpen = false
        private var isEscaped = false

        mutating func pass(_ text: String) {
            for byte in text.utf8 {
                if isEscaped {
                    isEscaped = false
                } else if byte == 0x22 {
                    areOpen.toggle()
                } else if byte == 0x5C {
                    isEscaped = areOpen
                }
            }
        }
    }
}
