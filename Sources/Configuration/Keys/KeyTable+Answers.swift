internal import Authorization
internal import Declaration
internal import Formats
internal import TLSEngine

/// Keys of callback answers.
extension KeyTable {
    static let callbackAnswer: [Key] =
        [
            Key("callback", .text(.name), "Type of the callback, such as NameCallback."),
            Key("prompt", .text(.any), "Glob over the prompt; any prompt where it is missing."),
            Key("name", .text(.any), "Glob over the callback's own name: of an attribute, a consent, a hidden value."),
            Key("stage", .text(.any), "Glob over the page's stage."),
            Key("tree", .text(.tree), "The tree that runs, with globs; that of a transaction is not told."),
            Key("page", .integer(1...1000), "The page's number in the tree, from 1."),
            Key("nth", .integer(1...256), "Which one of its type on the page, from 1."),
            Key("user", .oneOrMany(.text(.any)), "Globs over the name of the session's user, whom AM is asked for."),
        ] + replies + [
            Key(
                "answers", .list(.object(.callbackAnswer)),
                "Answers for the user, tree or stage that is named beside them."),
            Key(
                "otherwise", .choice(["deny", "ask"]),
                "Where no answer matches: deny ends the step-up, ask asks a person; stands alone and last.",
                standard: "deny"),
        ]

    private static let replies: [Key] = [
        Key("value", .text(.any), "What is filled in."),
        Key("choose", .text(.any), "The label of the choice."),
        Key("default", .choice(["true"]), "What AM has set already."),
        Key("totp", .textOr(.oneTimeSecret, .totp), "The secret of one-time passwords by the clock (RFC 6238)."),
        Key(
            "hotp", .textOr(.oneTimeSecret, .hotp),
            "The secret of one-time passwords by a counter (RFC 4226), which is kept in the state directory."),
        Key("device", .object(.deviceProfile), "What a DeviceProfileCallback is told of the device."),
        Key("question", .text(.any), "A security question; without it the first that is offered."),
        Key("answer", .text(.any), "What a KbaCreateCallback is told is the answer to it."),
        Key("inputs", .map(.name, .text(.any)), "Inputs by their names, such as token."),
        Key(
            "redirect", .map(.name, .text(.any)),
            "What the user's browser would come back with from where a RedirectCallback sends it."),
        Key("exit", .text(.any), "The label of the button by which a page that waits is left."),
        Key("after", .duration(0...3_600_000), "How long the page is waited for before that.", standard: "0s"),
        Key("ask", .boolean, "true: a person is asked (usher transactions, usher answer).", standard: "false"),
    ]

    static let totp: [Key] =
        oneTime + [Key("period", .duration(1000...3_600_000), "How long one holds.", standard: "30s")]

    static let hotp: [Key] =
        oneTime + [Key("counter", .integer(0...Int(Int32.max)), "That of the first one.", standard: "0")]

    private static let oneTime: [Key] = [
        Key(
            "secret", .text(.oneTimeSecret), "In base32, or an otpauth:// URI, whose words go first.", isRequired: true),
        Key("algorithm", .choice(["SHA1", "SHA256", "SHA512"]), "What it is made by.", standard: "SHA1"),
        Key("digits", .integer(OneTimePassword.digitRange), "How long it is.", standard: "6"),
    ]

    static let deviceProfile: [Key] = [
        Key("identifier", .text(.any), "The device's name.", isRequired: true),
        Key("metadata", .json, "Told where the callback asks for it."),
        Key("location", .json, "Told where the callback asks for it: { latitude: 51.45, longitude: -2.59 }."),
    ]
}

extension TextFormat {
    static let oneTimeSecret = TextFormat(
        "a secret in base32, such as \"${credential.totp}\", or an otpauth:// URI", isQuotable: false, takesUser: true
    ) { text in
        let kinds: [OneTimePassword.Kind] = [.time(period: 30), .counter(first: 0)]
        return kinds.contains { (try? OneTimePassword(reading: text, OneTimePassword(key: [], kind: $0))) != nil }
    }
}
