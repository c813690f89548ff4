internal import Authorization
internal import Declaration
internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// `authorization.answers` → answers, with a word about those that can never be given.
struct CallbackAnswerBuilder {
    let findings: Findings

    func answers(_ items: [Decoded]) -> [AuthorizationPolicy.CallbackAnswer] {
        var answers: [AuthorizationPolicy.CallbackAnswer] = []
        var places: [Position] = []
        var end: Position?
        for item in items {
            guard let fields = item.fields else { continue }
            if let end {
                findings.warning(
                    item.position,
                    "this is never reached, for the \"otherwise\" of \(findings.place(end, from: item.position)) comes first"
                )
            }
            if fields.has("otherwise") {
                if fields.written.count > 1 {
                    findings.error(item.position, "\"otherwise\" stands alone in its entry; begin another with \"- \"")
                }
                end = end ?? item.position
                continue
            }
            guard let answer = answer(fields, item.position) else { continue }
            if let index = answers.firstIndex(where: { Self.covers($0, answer) }) {
                findings.warning(
                    item.position,
                    "this is never reached, for the answer of \(findings.place(places[index], from: item.position)) takes every \(answer.callback) that it would"
                )
            }
            answers.append(answer)
            places.append(item.position)
        }
        return answers
    }

    private func answer(_ fields: Fields, _ position: Position) -> AuthorizationPolicy.CallbackAnswer? {
        if !fields.has("callback") {
            findings.error(position, "an answer lacks the key \"callback\"; it takes a type such as NameCallback")
        }
        // ask: false is as good as nothing
        let asks = fields.flag("ask") == true
        let replies = ["value", "choose", "totp"].filter(fields.has) + (asks ? ["ask"] : [])
        if replies.count != 1 {
            findings.error(
                position,
                replies.isEmpty
                    ? "an answer lacks what it answers; write value: TEXT, choose: LABEL or ask: true"
                    : "an answer gives one thing, found \(replies.joined(separator: " and "))")
        }
        guard let written = fields["callback"], let callback = written.text else { return nil }
        if !CallbackKind.answerable.contains(callback) {
            findings.warning(
                written.position,
                "\"\(written.written)\" is no callback that Usher fills in, so this answer is never given",
                nearest: Nearest.name(to: callback, among: CallbackKind.answerable))
        }
        if Self.passwords.contains(callback), let value = fields["value"], value.written.contains("${env."),
            let text = value.text, text.utf8.count < Redaction.shortestSecret
        {
            findings.warning(
                value.position,
                "this password has fewer than \(Redaction.shortestSecret) bytes: too short to be taken out of the log, and easily guessed; make it longer"
            )
        }
        guard
            let response = asks
                ? .ask
                : fields.text("value").map({ AuthorizationPolicy.CallbackAnswer.Response.value($0) })
                    ?? fields.text("choose").map({ .choose($0) })
        else { return nil }
        return .init(callback: callback, prompt: fields.text("prompt"), response: response)
    }

    /// True where every callback that `later` would answer is taken by `earlier`. A glob takes all that another glob
    /// takes where it matches that glob's own text: a star of the second can then only be met by a star of the first.
    private static func covers(
        _ earlier: AuthorizationPolicy.CallbackAnswer, _ later: AuthorizationPolicy.CallbackAnswer
    ) -> Bool {
        guard earlier.callback == later.callback else { return false }
        guard let prompt = earlier.prompt else { return true }
        return Glob.matches(prompt, later.prompt ?? "*", ignoringCase: true)
    }

    private static let passwords = ["PasswordCallback", "ValidatedCreatePasswordCallback"]
}
