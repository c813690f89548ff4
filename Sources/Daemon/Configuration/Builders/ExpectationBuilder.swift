internal import Declaration
internal import Expectations
internal import Interception
internal import Journal

/// Builds expectations from the entries of `expect`.
struct ExpectationBuilder {
    var conditions: ConditionBuilder
    /// Expectations of another place, which `before` and `after` may name, too.
    var others: [Expectation] = []
    /// False if there is no AM, so that no request has an Action.
    var knowsServers = true

    private var findings: Findings { conditions.reader.findings }

    func expectations(_ items: [Decoded]) -> [Expectation] {
        let written = items.compactMap(\.fields).map(self.written)
        var names: [String: Position] = [:]
        return written.flatMap { entry -> [Expectation] in
            guard let test = entry.test else { return packs(entry.fields) }
            let place = entry.fields["name"]?.position ?? entry.fields.position
            if let other = names[entry.name] {
                let name = entry.fields.has("name") ? "the name" : "the condition without a name"
                findings.error(
                    place,
                    "\(name) \"\(entry.name)\" is already used by the expectation of \(findings.place(other, from: place))"
                )
                return []
            }
            names[entry.name] = place
            return [
                expectation(
                    entry.name, complete(test, entry.fields, beside: written.filter { $0.name != entry.name }), place)
            ]
        }
    }

    private func expectation(_ name: String, _ test: MessageTest, _ place: Position) -> Expectation {
        Expectation(name: name, place: findings.place(place), words: test.words, test: .messages(test))
    }

    // MARK: packs

    private func packs(_ fields: Fields) -> [Expectation] {
        for key in fields.written where key != "use" && key != "except" {
            findings.error(
                fields.position(of: key) ?? fields.position,
                "\(key) does not apply to packs of rules; move it to an entry of its own")
        }
        let packs = fields.list("use").compactMap { use in RulePack.all.first { $0.name == use.text } }
        let left = fields.list("except")
        let known = packs.flatMap { $0.rules.map(\.name) }
        // of a pack that is not known, any rule may be meant
        for rule in left where fields["use"]?.isWholeList == true && rule.text.map(known.contains) == false {
            findings.error(
                rule.position, "except names a rule of these packs, found \"\(rule.written)\"",
                nearest: Nearest.name(to: rule.text ?? "", among: known))
        }
        return packs.flatMap { pack in pack.rules.filter { rule in !left.contains { $0.text == rule.name } } }
    }

    // MARK: messages

    private struct Written {
        var fields: Fields
        var name: String
        /// Nil for packs.
        var test: MessageTest?
    }

    private func written(_ fields: Fields) -> Written {
        guard !fields.has("use") else { return Written(fields: fields, name: "") }
        // a key that is misspelt was reported
        if !fields.has("when"), fields.written.count == fields.all.count {
            findings.error(fields.position, "an expectation needs when, or use with the name of a pack")
        }
        if let place = fields.position(of: "except") {
            findings.error(place, "except applies to packs of rules; add use, or remove it")
        }
        var builder = conditions
        builder.reader.owner = "expectation \(fields["name"]?.written ?? "")"
        let when = builder.condition(fields.fields("when"))
        let each = fields.fields("each").map { builder.condition($0) }
        let count = fields.text("count").flatMap(MessageTest.counts) ?? (each == nil ? 1...Int.max : 0...Int.max)
        var test = MessageTest(when, count: count, each: each)
        test.stepUp = fields.flag("step_up")
        test.within = fields.number("within")
        test.scope = fields.text("per").flatMap(MessageTest.Scope.init) ?? .session
        audit(test, fields)
        return Written(fields: fields, name: fields.text("name") ?? when.words, test: test)
    }

    /// Resolves the names of other expectations and of Actions.
    private func complete(_ test: MessageTest, _ fields: Fields, beside entries: [Written]) -> MessageTest {
        var test = test
        test.before = anchor("before", fields, entries)
        test.after = anchor("after", fields, entries)
        return test
    }

    private func anchor(_ key: String, _ fields: Fields, _ entries: [Written]) -> MessageTest.Anchor? {
        guard let value = fields[key], let name = value.text else { return nil }
        if let entry = entries.first(where: { $0.name == name }), let test = entry.test {
            return .init(name: name, when: test.when)
        }
        for other in others where other.name == name {
            if case .messages(let test) = other.test { return .init(name: name, when: test.when) }
        }
        let action = Action(named: name)
        let actions = Action.known.map(\.rawValue) + conditions.defined
        if actions.contains(action.rawValue) {
            return .init(name: name, when: .test(.action, [.exact(action.rawValue)]))
        }
        guard !entries.contains(where: isUnnamed) else { return nil }
        findings.error(
            value.position, "\(key) takes the name of another expectation, or an Action, found \"\(value.written)\"",
            nearest: Nearest.name(to: name, among: entries.map(\.name) + others.map(\.name) + actions))
        return nil
    }

    /// Whether the entry has a name that is not known, so that any name may be meant.
    private func isUnnamed(_ entry: Written) -> Bool {
        entry.fields.hasFaulty("name") || entry.fields["name"].map { findings.isExcused($0.position) } == true
    }

    // MARK: what can never match

    private func audit(_ test: MessageTest, _ fields: Fields) {
        if test.count == 0...0 {
            for key in ["before", "after", "within", "each", "step_up"] {
                guard let place = fields.position(of: key) else { continue }
                let remedy =
                    key == "before" || key == "after"
                    ? "; count: \">=0\" asks for the order alone" : ""
                findings.error(place, "\(key) has no effect with count: never\(remedy)")
            }
        }
        if test.when.neverHolds {
            warn("when", fields, "this never matches: its terms exclude each other")
        } else if let each = test.each, Condition.all([test.when, each]).neverHolds {
            warn("each", fields, "no message that fits \"when\" can be like this: the terms exclude each other")
        }
        if !knowsServers, test.when.needsServer(knowing: conditions.defined) {
            warn(
                "when", fields,
                "this never matches: only requests to AM have Actions, trees and realms, and am names no server; add "
                    + "am: [{ url: … }]")
        }
        for (key, condition) in [("when", test.when), ("each", test.each ?? .always)] {
            if let name = condition.hiddenValue {
                warn(
                    key, fields,
                    "this never matches: flows have an alias in place of the value of \(name); test that it is there, "
                        + "with \"*\"")
            }
        }
    }

    private func warn(_ key: String, _ fields: Fields, _ words: String) {
        findings.warning(fields.position(of: key) ?? fields.position, words)
    }
}

extension MessageTest {
    /// What it demands, as in `action LOGOUT: 1, after action REVOKE_TOKEN`.
    fileprivate var words: String {
        var parts = [MessageTest.words(count)]
        if let each { parts.append("each \(each.words)") }
        if let stepUp { parts.append(stepUp ? "each by a step-up" : "each without a step-up") }
        if let before { parts.append("before \(before.name)") }
        if let after { parts.append("after \(after.name)") }
        if let within { parts.append("within \(within) ms") }
        if scope == .journey { parts.append("in each journey") }
        return "\(when.words): \(parts.joined(separator: ", "))"
    }
}

extension Condition {
    /// Terms exclude each other. Other than for an interceptor, response and error may be tested together.
    fileprivate var neverHolds: Bool {
        switch contradiction {
        case .values?, .nothing?: true
        case .phases?, nil: false
        }
    }

    /// The name of a secret value that is compared with a certain text, which stored flows never have.
    fileprivate var hiddenValue: String? {
        switch self {
        case .always: return nil
        case .all(let parts), .any(let parts): return parts.lazy.compactMap(\.hiddenValue).first
        case .not(let part): return part.hiddenValue
        case .test(let key, let matchers):
            let isExact = matchers.contains { if case .exact = $0 { true } else { false } }
            guard isExact else { return nil }
            switch key {
            case .header(let name), .query(let name), .cookie(let name), .form(let name):
                return SecretNames().mayHide(name) ? name : nil
            default: return nil
            }
        }
    }
}
