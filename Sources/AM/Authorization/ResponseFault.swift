internal import Formats

/// The meaning of AM's responses other than 200 (docs/protocol.md#how-it-ends).
public enum ResponseFault {
    /// AM does not say which of the two it is, nor which answer is wrong.
    public static let wrongAnswers = "the answers are wrong, or belong to another user than the session"

    static func askedAgain(_ answer: GivenAnswers.Answer) -> String {
        if !answer.failed.isEmpty {
            let policies = answer.failed.prefix(8).joined(separator: ", ")
            return
                "AM refused the answer to \(Callback.shown(answer.type, answer.prompt)), which violates its policies: \(policies)"
        }
        return "AM asks again for \(Callback.shown(answer.type, answer.prompt)), which was answered: \(wrongAnswers)"
    }

    /// - Parameter hasStep: true if the body has an `authId`, which means that AM expects HTTP authentication.
    static func failure(status: Int, answer: JSONValue?, hasStep: Bool) -> StepUp.Failure {
        // newer servers write the number as a string, others as a number
        let value = answer?["detail"]?["errorCode"] ?? answer?["errorCode"]
        let code = value?.text ?? value?.integer.map(String.init)
        let shown = code.map { " with errorCode \(LogText.shown($0))" } ?? ""
        switch (status, code) {
        case (401, "128"):
            return .init(
                .transactionUnreadable, "AM cannot read the transaction: it is unknown, expired or used (401/128)")
        case (401, "110"), (408, _):
            return .init(.expired, "AM's authentication session timed out (\(status)\(shown))")
        case (401, _) where hasStep:
            return .init(
                .unsupportedCallback,
                "AM asks for HTTP authentication, which cannot be answered (401); take a tree without HTTP Basic and Kerberos"
            )
        case (401, _) where answer?["message"]?.text?.contains("SuspendedAuthSessionException") == true:
            return .init(.expired, "the link by which the tree goes on is used or too old (401\(shown))")
        case (401, _):
            return .init(.denied, "AM refused to authenticate (401\(shown)): \(wrongAnswers)")
        case (403, _):
            let failed = answer?["detail"]?["failedPolicyRequirements"]?.items ?? []
            if failed.isEmpty { return .init(.unexpectedStatus, "AM responded with 403\(shown)") }
            let policies = failed.prefix(8).map(policy).joined(separator: ", ")
            return .init(.refused, "AM refused an answer, which violates its policies (403): \(policies)")
        case (400, _): return .init(.badCall, "AM found the call faulty (400\(shown))")
        default: return .init(.unexpectedStatus, "AM responded with \(status)\(shown)")
        }
    }

    /// The policies as text, such as `password: LENGTH_BASED (min-password-length 8)`.
    private static func policy(_ failed: JSONValue) -> String {
        let requirements = failed["policyRequirements"]?.items ?? [failed]
        let words = requirements.prefix(8).map(Callback.words).joined(separator: ", ")
        return failed["property"]?.text.map { "\(LogText.shown($0)): \(words)" } ?? words
    }
}
