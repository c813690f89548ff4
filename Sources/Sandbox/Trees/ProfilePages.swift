internal import Formats

/// Pages that ask for more than who somebody is; what they do not like is asked for once more, and said why.

/// Boxes that all have to be ticked.
struct AgreementPage: TreeNode {
    let questions: [Question]

    init(_ questions: Question...) { self.questions = questions }

    func page(_: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] { questions }

    func take(_ answers: Answers, _: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        questions.indices.allSatisfy { answers.isTrue($0) } ? .next : .failed("not agreed to")
    }
}

struct KnowledgePage: TreeNode {
    func page(_: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] { [.knowledge] }

    func take(_ answers: Answers, _: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        answers.text(0, 0).isEmpty || answers.text(0, 1).isEmpty
            ? .again("a question and its answer are wanted") : .next
    }
}

struct MailAddressPage: TreeNode {
    private static let broken = JSONValue.record(["policyRequirement": .string("VALID_EMAIL_ADDRESS_FORMAT")])

    func page(_ flow: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] {
        [.mail(failed: flow.state["mail"] == nil ? [] : [Self.broken])]
    }

    func take(_ answers: Answers, _ flow: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        let good = answers.text(0).contains("@")
        flow.state["mail"] = good ? nil : "refused"
        if !good { return .again("that is no address") }
        return answers.isTrue(0, 1) ? .again("looked at only") : .next
    }
}

/// At least eight characters, one of them a digit.
struct NewPasswordPage: TreeNode {
    private static func broken(_ text: String) -> [JSONValue] {
        var broken: [JSONValue] = []
        if text.count < 8 {
            broken.append(
                .record([
                    "policyRequirement": .string("LENGTH_BASED"),
                    "params": .record(["min-password-length": .integer(8)]),
                ]))
        }
        if !text.utf8.contains(where: ASCII.isDigit) {
            broken.append(
                .record([
                    "policyRequirement": .string("AT_LEAST_X_NUMBERS"), "params": .record(["numNums": .integer(1)]),
                ]))
        }
        return broken
    }

    func page(_ flow: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] {
        [.newPassword(failed: flow.state["new password"].map(Self.broken) ?? [])]
    }

    func take(_ answers: Answers, _ flow: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        flow.state["new password"] = answers.text(0)
        guard Self.broken(answers.text(0)).isEmpty else { return .again("a password that the policies refuse") }
        return answers.isTrue(0, 1) ? .again("looked at only") : .next
    }
}

/// A device profile: JSON as text, with an identifier in it.
struct DevicePage: TreeNode {
    func page(_: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] { [.device] }

    func take(_ answers: Answers, _: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        let profile = try? JSONValue(parsing: answers.text(0))
        return profile?["identifier"]?.text == nil ? .failed("no device profile") : .next
    }
}

/// The local password, or an identity provider that is not there.
struct ProviderPage: TreeNode {
    func page(_: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] { [.providers] }

    func take(_ answers: Answers, _: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        answers.text(0) == "localAuthentication" ? .next : .failed("no such provider here")
    }
}

/// Sends the browser to somebody who never sends it back.
struct RedirectPage: TreeNode {
    func page(_: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] { [.leave] }

    func take(_: Answers, _: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        .failed("nobody came back from there")
    }
}
