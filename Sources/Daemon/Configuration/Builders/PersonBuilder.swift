internal import Authorization
internal import Declaration

/// Builds the policy for asking a person from `authorization`.
struct PersonBuilder {
    let findings: Findings

    func policy(_ fields: Fields, _ answers: [AuthorizationPolicy.CallbackAnswer]) -> PersonPolicy {
        var policy = PersonPolicy()
        // the first `otherwise` decides; later ones are unreachable
        policy.isAsked = fields.list("answers").compactMap { $0.fields?.text("otherwise") }.first == "ask"
        policy.notify = fields.list("notify").compactMap(\.text)
        if let written = fields["notify"], !policy.notify.isEmpty {
            if policy.notify.first?.isEmpty == true {
                findings.error(written.position, "notify must begin with the program to run, found nothing")
            }
            if !policy.isAsked, !answers.contains(where: { $0.response == .ask }) {
                findings.warning(
                    written.position,
                    "no answer asks a person, so this command never runs; add otherwise: ask as the last of answers")
            }
        }
        return policy
    }
}
