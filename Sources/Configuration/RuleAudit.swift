internal import Declaration
internal import Interception

/// Warns of interceptors, and of edits in them, that never come to anything.
struct RuleAudit {
    let findings: Findings

    // MARK: by themselves

    /// Edits in a phase in which the condition is not asked, and what never holds.
    func look(at condition: Condition, in fields: Fields) {
        look(forContradictionsIn: condition, of: fields)
        if condition.needsError {
            for phase in ["request", "response"] {
                warn(
                    phase, fields,
                    "these edits are never made, for \"when\" asks why there is no answer (error); move them to the list error"
                )
            }
        } else if condition.needsResponse {
            warn(
                "request", fields,
                "these edits are never made, for \"when\" looks at the response (status, content_type, response_json), which is not there yet; move them to an interceptor that asks for the request alone"
            )
        }
        if fields.number("percent") == 0, let position = fields.position(of: "percent") {
            findings.warning(position, "this interceptor takes none of a hundred, so it is never applied")
        }
    }

    func look(forContradictionsIn condition: Condition, of fields: Fields) {
        guard let contradiction = condition.contradiction, let position = fields.position(of: "when") else { return }
        let why =
            switch contradiction {
            case .values(let key): "no value of \(key) fits all of it"
            case .phases:
                "it asks for a response (status, content_type, response_json) and for why there is none (error)"
            case .nothing: "everything fits what it excludes"
            }
        findings.warning(position, "this never holds: \(why)")
    }

    private func warn(_ phase: String, _ fields: Fields, _ words: String) {
        guard let position = fields.position(of: phase), !fields.list(phase).isEmpty else { return }
        findings.warning(position, words)
    }

    // MARK: behind others

    /// Interceptors behind one that answers or aborts whatever comes.
    func look(at rules: [(rule: Rule, fields: Fields)]) {
        let requestEnd = rules.firstIndex { Self.ends($0.rule, $0.rule.request) }
        let responseEnd = rules.firstIndex { Self.ends($0.rule, $0.rule.response) }
        for (index, (rule, fields)) in rules.enumerated() {
            // what is answered here has no response phase, wherever the interceptor stands
            let request = requestEnd.flatMap { $0 < index ? $0 : nil }
            let response = requestEnd ?? responseEnd.flatMap { $0 < index ? $0 : nil }
            let dead = [("request", rule.request.isEmpty, request), ("response", rule.response.isEmpty, response)]
                .filter { !$0.1 }
            guard let end = dead.compactMap(\.2).first else { continue }
            let place = findings.place(rules[end].fields.position, from: fields.position)
            let words =
                "\"\(rules[end].fields["name"]?.written ?? "")\" of \(place) ends every \(end == requestEnd ? "request" : "response")"
            if end < index, dead.allSatisfy({ $0.2 != nil }) {
                findings.warning(fields["name"]?.position ?? fields.position, "this is never reached: \(words)")
            } else {
                for phase in dead where phase.2 != nil {
                    warn(phase.0, fields, "these edits are never made: \(words)")
                }
            }
        }
    }

    private static func ends(_ rule: Rule, _ edits: [any Edit]) -> Bool {
        rule.when.isAlways && rule.sampling.isWhole && edits.contains { type(of: $0).isLast }
    }
}
