internal import Authorization
internal import Declaration
internal import ProxyCore

/// Builds the callback answers from `authorization.answers`, with warnings about unreachable ones.
struct CallbackAnswerBuilder {
    typealias Answer = AuthorizationPolicy.CallbackAnswer

    let findings: Findings

    private struct Reading {
        var answers: [Answer] = []
        var places: [Position] = []
        /// The position of `otherwise`.
        var end: Position?
    }

    func answers(_ items: [Decoded]) -> [Answer] {
        var reading = Reading()
        for item in items { read(item, AnswerScope(), isInGroup: false, into: &reading) }
        return reading.answers
    }

    private func read(_ item: Decoded, _ group: AnswerScope, isInGroup: Bool, into reading: inout Reading) {
        guard let fields = item.fields else { return }
        if let end = reading.end {
            findings.warning(
                item.position,
                "this is never reached: the \"otherwise\" of \(findings.place(end, from: item.position)) comes first"
            )
        }
        if fields.has("otherwise") {
            if fields.written.count > 1 {
                findings.error(
                    item.position,
                    "\"otherwise\" must be the only key of its entry; begin another entry with \"- \"")
            }
            if isInGroup {
                findings.error(item.position, "\"otherwise\" applies to the whole list; make it the last entry")
                return
            }
            reading.end = reading.end ?? item.position
            return
        }
        guard let scope = scope(fields, within: group) else { return }
        if fields.has("answers") { return readGroup(fields, scope, isInGroup: isInGroup, into: &reading) }
        guard let answer = answer(fields, scope, item.position) else { return }
        if let index = reading.answers.firstIndex(where: { $0.covers(answer) }) {
            findings.warning(
                item.position,
                "this is never reached: the answer of "
                    + "\(findings.place(reading.places[index], from: item.position)) already matches every such "
                    + "\(answer.callback)"
            )
        }
        reading.answers.append(answer)
        reading.places.append(item.position)
    }

    // MARK: groups

    private static let groupKeys = ["user", "tree", "stage"]

    private func readGroup(_ fields: Fields, _ scope: AnswerScope, isInGroup: Bool, into reading: inout Reading) {
        if isInGroup {
            findings.error(fields.position, "groups of answers cannot be nested")
            return
        }
        let foreign = fields.written.filter { !Self.groupKeys.contains($0) && $0 != "answers" }.sorted()
        if let key = foreign.first {
            findings.error(
                fields.position(of: key) ?? fields.position,
                "a group of answers takes only user, tree and stage; move \(key) to an answer")
        }
        if !Self.groupKeys.contains(where: fields.has) {
            findings.error(
                fields.position, "a group of answers needs user, tree or stage; add one")
        }
        for item in fields.list("answers") { read(item, scope, isInGroup: true, into: &reading) }
    }

    /// Nil if a key repeats one of the group.
    private func scope(_ fields: Fields, within group: AnswerScope) -> AnswerScope? {
        let said = [("user", !group.users.isEmpty), ("tree", group.tree != nil), ("stage", group.stage != nil)]
        for (key, isSaid) in said where isSaid && fields.has(key) {
            findings.error(
                fields.position(of: key) ?? fields.position,
                "the group already has \(key); remove it here, or move the answer out of the group")
            return nil
        }
        if fields["user"]?.isEmptyList == true {
            findings.error(
                fields.position(of: "user") ?? fields.position,
                "user is an empty list, which matches nobody")
        }
        var scope = group
        scope.name = fields.text("name")
        scope.stage = fields.text("stage") ?? group.stage
        scope.tree = fields.text("tree").map(TreePattern.init) ?? group.tree
        scope.page = fields.number("page")
        scope.number = fields.number("nth")
        if fields.has("user") { scope.users = fields.list("user").compactMap(\.text) }
        return scope
    }

    // MARK: single answers

    private func answer(_ fields: Fields, _ scope: AnswerScope, _ position: Position) -> Answer? {
        if !fields.has("callback") {
            findings.error(position, "an answer lacks the key \"callback\"; it takes a type such as NameCallback")
        }
        // `ask: false` counts as absent
        let replies = CallbackKind.Reply.allCases.filter {
            fields.has($0.rawValue) && ($0 != .ask || fields.flag("ask") != false)
        }
        if replies.count > 1 {
            findings.error(
                position, "an answer takes one value, found \(replies.map(\.rawValue).joined(separator: " and "))")
        }
        var isHalf = false
        for (key, other) in [("question", "answer"), ("after", "exit")] where fields.has(key) && !fields.has(other) {
            findings.error(
                fields.position(of: key) ?? position, "\(key) requires \(other), which is missing here")
            isHalf = true
        }
        let callback = fields["callback"]?.text
        if replies.isEmpty, !isHalf {
            let takes = callback.flatMap { Self.takes($0) } ?? "write value: TEXT or choose: LABEL"
            findings.error(position, "an answer lacks its value; \(takes)")
        }
        guard let written = fields["callback"], let callback else { return nil }
        guard isAnswered(callback, written, replies.first) else { return nil }
        judgePassword(callback, fields)
        guard replies.count == 1, let response = AnswerResponseBuilder(findings: findings).response(replies[0], fields)
        else { return nil }
        return Answer(callback: callback, prompt: fields.text("prompt"), scope: scope, response: response)
    }

    /// As in `a ChoiceCallback takes value, choose or default`.
    private static func takes(_ callback: String) -> String? {
        guard let kind = CallbackKind.known[callback] else { return nil }
        var names = kind.replies(callback).filter { Unavailable.row(KeyTable.callbackAnswer, $0.rawValue) == nil }.map(
            \.rawValue)
        guard let last = names.popLast() else { return nil }
        return "\(callback) takes \(names.isEmpty ? last : "\(names.joined(separator: ", ")) or \(last)")"
    }

    /// Whether this key can answer such a callback.
    private func isAnswered(_ callback: String, _ written: Decoded, _ reply: CallbackKind.Reply?) -> Bool {
        if let kind = CallbackKind.known[callback] {
            guard kind.takesAnswer else {
                let why = kind == .suspended ? "the tree continues with a link" : "Usher returns it unchanged"
                findings.error(written.position, "\(callback) takes no answer: \(why); remove the entry")
                return false
            }
            guard let reply, !kind.replies(callback).contains(reply) else { return true }
            findings.error(
                written.position,
                "\(reply.rawValue) does not suit this callback; \(Self.takes(callback) ?? "remove the entry")")
            return false
        }
        let nearest =
            CallbackKind.answerable.first { $0 == "\(callback)Callback" }
            ?? Nearest.name(to: callback, among: CallbackKind.answerable)
        // unknown names are fine for callbacks of one's own
        if nearest != nil || !callback.hasSuffix("Callback") {
            findings.warning(
                written.position,
                "Usher does not answer \"\(written.written)\", so this entry has no effect",
                nearest: nearest)
        } else if let reply, ![.value, .inputs, .ask].contains(reply) {
            findings.error(
                written.position, "an unknown callback takes value, inputs or ask, found \(reply.rawValue)")
            return false
        }
        return true
    }

    private func judgePassword(_ callback: String, _ fields: Fields) {
        guard Self.passwords.contains(callback), let value = fields["value"], value.written.contains("${env."),
            let text = value.text, text.utf8.count < Redaction.shortestSecret
        else { return }
        findings.warning(
            value.position,
            "this password has fewer than \(Redaction.shortestSecret) bytes; it is too short to be redacted in the "
                + "log, and easy to guess; make it longer"
        )
    }

    private static let passwords = ["PasswordCallback", "ValidatedCreatePasswordCallback"]
}
