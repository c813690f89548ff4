internal import Formats

/// Pages that ask for more than the identity.
extension CheckedPage {
    /// Two boxes that both have to be ticked.
    static let agreement = CheckedPage(.terms, .consent) { answers in
        answers.isTrue(0) && answers.isTrue(1) ? .next : .failed("not agreed to")
    }

    static let knowledge = CheckedPage(.knowledge) { answers in
        answers.text(0, 0).isEmpty || answers.text(0, 1).isEmpty
            ? .again("a question and its answer are required") : .next
    }

    /// A device profile: JSON with an identifier.
    static let device = CheckedPage(.device) { answers in
        let profile = try? JSONValue(parsing: answers.text(0))
        return profile?["identifier"]?.text == nil ? .failed("no device profile") : .next
    }

    /// Local authentication, or an identity provider that does not exist.
    static let provider = CheckedPage(.providers) { answers in
        answers.text(0) == "localAuthentication" ? .next : .failed("no such provider")
    }

    /// Redirects the browser to a site that never sends it back.
    static let redirect = CheckedPage(.leave) { _ in .failed("the browser did not return from the provider") }

    /// Suspends the journey until its mailed link is followed. The sandbox's log is the mailbox.
    static let mail = CheckedPage(.mailed) { _ in .again("the link was not opened") }
}

/// Asks for a mail address. An invalid one is asked again with the failed policy.
struct MailAddressPage: TreeNode {
    private static let broken: JSONValue = ["policyRequirement": "VALID_EMAIL_ADDRESS_FORMAT"]

    func page(_ journey: inout Journey, _: inout IdentityStore, _: inout TokenSource, _: Int) -> [Question] {
        [.mail(failed: journey.state["mail"] == nil ? [] : [Self.broken])]
    }

    func take(_ answers: Answers, _ journey: inout Journey, _: inout IdentityStore, _: Int) -> NodeOutcome {
        let good = answers.text(0).contains("@")
        journey.state["mail"] = good ? nil : "refused"
        if !good { return .again("not an email address") }
        return answers.isTrue(0, 1) ? .again("looked at only") : .next
    }
}

/// Asks for a new password with at least eight characters and a digit.
struct NewPasswordPage: TreeNode {
    private static func broken(_ text: String) -> [JSONValue] {
        var broken: [JSONValue] = []
        if text.count < 8 {
            broken.append(
                ["policyRequirement": "LENGTH_BASED", "params": ["min-password-length": 8]])
        }
        if !text.utf8.contains(where: ASCII.isDigit) {
            broken.append(
                ["policyRequirement": "AT_LEAST_X_NUMBERS", "params": ["numNums": 1]])
        }
        return broken
    }

    func page(_ journey: inout Journey, _: inout IdentityStore, _: inout TokenSource, _: Int) -> [Question] {
        [.newPassword(failed: journey.state["new password"].map(Self.broken) ?? [])]
    }

    func take(_ answers: Answers, _ journey: inout Journey, _: inout IdentityStore, _: Int) -> NodeOutcome {
        journey.state["new password"] = answers.text(0)
        guard Self.broken(answers.text(0)).isEmpty else { return .again("a password that violates the policies") }
        return answers.isTrue(0, 1) ? .again("looked at only") : .next
    }
}
