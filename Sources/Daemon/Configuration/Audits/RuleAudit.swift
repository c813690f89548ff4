internal import Declaration
internal import Interception

/// Warns of interceptors and edits that never take effect.
struct RuleAudit {
    let findings: Findings
    var chain = ChainRules()

    // MARK: single interceptors

    /// Finds edits in phases that the condition excludes, and conditions that never hold.
    func look(at condition: Condition, in fields: Fields) {
        look(forContradictionsIn: condition, of: fields)
        if condition.needsError {
            // with CDTDatastore's rules, failures reach the response phase
            let isResponse = chain.compatibility == .cdt && fields.list("error").isEmpty
            for phase in isResponse ? ["request"] : ["request", "response"] {
                warn(
                    phase, fields,
                    "these edits never apply: \"when\" has error, which needs a request without a response; move "
                        + "them to the list error"
                )
            }
        } else if condition.needsResponse {
            warn(
                "request", fields,
                "these edits never apply: \"when\" tests the response (status, content_type, response_header, response_json), which "
                    + "has not come yet; move them to an interceptor without these keys"
            )
            warn(
                "error", fields,
                "these edits never apply: \"when\" tests the response (status, content_type, response_header, response_json), and "
                    + "there is none; move them to an interceptor without these keys"
            )
        }
        if fields.number("percent") == 0, let position = fields.position(of: "percent") {
            findings.warning(position, "percent: 0 matches no exchange, so this interceptor never applies")
        }
    }

    /// Finds conditions on Actions, trees and realms in a configuration without an AM that could provide them.
    func look(forServersIn condition: Condition, of fields: Fields, knowing actions: [String]) {
        guard condition.needsServer(knowing: actions) else { return }
        findings.warning(
            fields.position(of: "when") ?? fields.position,
            "this never matches: only requests to AM have Actions, trees and realms, and am names no server; add "
                + "am: [{ url: … }]"
        )
    }

    /// Finds an interceptor that names only Actions of Usher's own calls but skips such calls, and one whose `before` does not
    /// suit its edits.
    func look(at rule: Rule, in fields: Fields) {
        if rule.missesItsCalls, let position = fields.position(of: "when") {
            findings.warning(
                position,
                "this never matches: these Actions are Usher's own calls, which edits that delay or break messages "
                    + "spare; add by: usher"
            )
        }
        guard rule.comesBeforeStepUp, let position = fields.position(of: "before") else { return }
        if rule.response.isEmpty {
            findings.warning(position, "this has no effect: it applies to response edits, and there are none")
        }
        for edit in rule.response where edit is Delay || edit is Throttle || edit is Fault {
            findings.error(
                position,
                "\(type(of: edit).name) applies to a response on its way to the client; move it to an interceptor "
                    + "without before"
            )
        }
    }

    func look(forContradictionsIn condition: Condition, of fields: Fields) {
        guard let contradiction = condition.contradiction, let position = fields.position(of: "when") else { return }
        let why =
            switch contradiction {
            case .values(let key): "no value of \(key) matches all of it"
            case .phases:
                "it tests the response (status, content_type, response_header, response_json), and error, which means that there is none"
            case .nothing: "it excludes everything"
            }
        findings.warning(position, "this never matches: \(why)")
    }

    private func warn(_ phase: String, _ fields: Fields, _ words: String) {
        guard let position = fields.position(of: phase), !fields.list(phase).isEmpty else { return }
        findings.warning(position, words)
    }

    // MARK: order of interceptors

    /// Finds interceptors after one that always answers or aborts.
    func look(at rules: [(rule: Rule, fields: Fields)]) {
        let isReversed = chain.responseOrder == .reversed
        func end(_ edits: (Rule) -> [any Edit], last: Bool = false) -> Int? {
            let ends = { (one: (rule: Rule, fields: Fields)) in Self.ends(one.rule, edits(one.rule)) }
            return last ? rules.lastIndex(where: ends) : rules.firstIndex(where: ends)
        }
        // a request answered here reaches no later phase, wherever the interceptor is
        let requestEnd = end(\.request)
        let phases: [(name: String, edits: (Rule) -> [any Edit], end: Int?)] = [
            ("request", \.request, requestEnd), ("response", \.response, end(\.response, last: isReversed)),
            ("error", \.error, end(\.error, last: isReversed)),
        ]
        for (index, (rule, fields)) in rules.enumerated() {
            var dead: [(phase: String, words: String)] = []
            var isReached = false
            for phase in phases where !phase.edits(rule).isEmpty {
                let isTurned = isReversed && phase.name != "request"
                let own = phase.end.flatMap { (isTurned ? $0 > index : $0 < index) ? $0 : nil }
                if phase.name != "request", let requestEnd {
                    dead.append((phase.name, words(rules[requestEnd].fields, "request", fields)))
                    isReached = isReached || requestEnd >= index
                } else if let own {
                    dead.append((phase.name, words(rules[own].fields, phase.name, fields)))
                } else {
                    isReached = true
                }
            }
            guard let first = dead.first else { continue }
            if isReached {
                for found in dead { warn(found.phase, fields, "these edits never apply: \(found.words)") }
            } else {
                findings.warning(fields["name"]?.position ?? fields.position, "this is never reached: \(first.words)")
            }
        }
    }

    /// - Parameter fields: the interceptor that the warning is about.
    private func words(_ end: Fields, _ phase: String, _ fields: Fields) -> String {
        let place = findings.place(end.position, from: fields.position)
        return "\"\(end["name"]?.written ?? "")\" of \(place) ends every \(phase == "error" ? "failure" : phase)"
    }

    private static func ends(_ rule: Rule, _ edits: [any Edit]) -> Bool {
        rule.when.isAlways && rule.sampling.isWhole && edits.contains(where: \.endsPhase)
    }
}
