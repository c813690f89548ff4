internal import Authorization
internal import Declaration
internal import ProxyCore

/// A test user that a test session may borrow, so that step-ups of two sessions never share an account.
public struct Robot: Sendable {
    public var user: String
    /// For the test to sign in with; nil if only answers need it.
    public var password: String?
    /// Answers to callbacks for this user.
    var answers: [AuthorizationPolicy.CallbackAnswer]
}

/// Builds the robots from `robots`.
struct RobotBuilder {
    let findings: Findings

    func robots(_ items: [Decoded]) -> [Robot] {
        var places: [String: Position] = [:]
        return items.compactMap { item in
            guard let fields = item.fields, let written = fields["user"], let user = written.text else { return nil }
            if let place = places[user] {
                findings.error(
                    written.position,
                    "the user \(written.written) is already the robot of \(findings.place(place, from: written.position))"
                )
            }
            places[user] = written.position
            let password = fields.text("password")
            var answers = CallbackAnswerBuilder(findings: findings).answers(fields.list("answers"))
            answers.append(.init(callback: "NameCallback", response: .value(user)))
            if let password { answers.append(.init(callback: "PasswordCallback", response: .value(password))) }
            return Robot(user: user, password: password, answers: answers)
        }
    }
}
