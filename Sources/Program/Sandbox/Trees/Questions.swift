internal import Formats

/// The questions of the sandbox's trees.
extension Question {
    static let name = Question("NameCallback", ["prompt": .string("User Name")], inputs: [.text])
    static let password = Question("PasswordCallback", ["prompt": .string("Password")], inputs: [.text])
    static let approval = choice("Approve?", ["Yes", "No"], usual: 1)
    /// As AM's OTP verifier asks: a NameCallback for a code.
    static let code = Question("NameCallback", ["prompt": .string("Enter verification code")], inputs: [.text])
    static let submit = confirmation(["Submit"])

    static func choice(_ prompt: String, _ choices: [String], usual: Int) -> Question {
        Question(
            "ChoiceCallback",
            ["prompt": .string(prompt), "choices": .strings(choices), "defaultChoice": .integer(usual)],
            inputs: [.index(of: choices.count, initially: usual)])
    }

    /// - Parameter input: nil for an index of the options.
    static func confirmation(
        _ options: [String], _ input: Input? = nil, prompt: String = "", usual: Int = 0
    ) -> Question {
        Question(
            "ConfirmationCallback",
            [
                "prompt": .string(prompt), "messageType": .integer(0), "options": .strings(options),
                "optionType": .integer(-1), "defaultOption": .integer(usual),
            ], inputs: [input ?? .index(of: options.count, initially: usual)])
    }

    static func message(_ text: String) -> Question {
        Question("TextOutputCallback", ["message": .string(text), "messageType": .string("0")])
    }

    static func hidden(_ id: String, value: String = "") -> Question {
        Question(
            "HiddenValueCallback", ["value": .string(value), "id": .string(id)],
            inputs: [.init(initial: .string(id))])
    }

    /// - Parameter milliseconds: sent as a string, as AM does.
    static func wait(_ milliseconds: Int, _ message: String) -> Question {
        Question(
            "PollingWaitCallback", ["waitTime": .string(String(milliseconds)), "message": .string(message)])
    }

    static let mailed = Question(
        "SuspendedTextOutputCallback",
        [
            "message": .string(
                "An email has been sent to the address you entered. Click the link in that email to proceed."),
            "messageType": .string("0"),
        ])

    static let terms = Question(
        "TermsAndConditionsCallback",
        [
            "version": .string("2.1"), "terms": .string("Be kind to the sandbox."),
            "createDate": .string("2024-01-02T03:04:05.006Z"),
        ], inputs: [.flag])

    static let consent = Question(
        "ConsentMappingCallback",
        [
            "name": .string("managedUser_directory"), "displayName": .string("Directory"), "icon": .string(""),
            "accessLevel": .string("Actual Profile"), "isRequired": .bool(true), "message": .string("Share?"),
            "fields": .strings(["mail"]),
        ], inputs: [.flag])

    static let knowledge = Question(
        "KbaCreateCallback",
        [
            "prompt": .string("Select a security question"),
            "predefinedQuestions": .strings(["What was your first school?", "What was your first pet?"]),
        ], inputs: [.init(suffix: "question"), .init(suffix: "answer")])

    static let device = Question(
        "DeviceProfileCallback", ["metadata": .bool(true), "location": .bool(false), "message": .string("")],
        inputs: [.text])

    static let providers = Question(
        "SelectIdPCallback",
        [
            "providers": .array([
                ["provider": "acme", "uiConfig": ["buttonDisplayName": "Acme"]],
                ["provider": "localAuthentication"],
            ]), "value": .string(""),
        ], inputs: [.text])

    static let leave = Question(
        "RedirectCallback",
        [
            "redirectUrl": .string("https://idp.sandbox.example/authorize?client_id=sandbox"),
            "redirectMethod": .string("GET"), "trackingCookie": .bool(true),
        ])

    /// - Parameter failed: the policies that the last answer violated, each sent as a string that contains JSON.
    static func newPassword(failed: [JSONValue]) -> Question {
        let rules = JSONValue.array([
            ["policyId": "length-based", "params": ["minLength": 8]],
            ["policyId": "at-least-X-numbers", "params": ["numNums": 1]],
        ])
        return Question(
            "ValidatedCreatePasswordCallback",
            [
                "echoOn": .bool(false), "policies": ["policies": rules],
                "failedPolicies": .strings(failed.map(\.serialized)), "validateOnly": .bool(false),
                "prompt": .string("New Password"),
            ], inputs: [.text, .validateOnly])
    }

    /// - Parameter failed: as for `newPassword`.
    static func mail(failed: [JSONValue]) -> Question {
        Question(
            "StringAttributeInputCallback",
            [
                "name": .string("mail"), "prompt": .string("Email Address"), "required": .bool(true),
                "policies": [:], "failedPolicies": .strings(failed.map(\.serialized)),
                "validateOnly": .bool(false), "value": .string(""),
            ], inputs: [.text, .validateOnly])
    }
}
