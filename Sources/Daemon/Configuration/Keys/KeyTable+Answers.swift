internal import Authorization
internal import Declaration

/// Keys of callback answers.
extension KeyTable {
    static let callbackAnswer = ObjectShape("callback_answer", callbackAnswerKeys)
    private static let callbackAnswerKeys: [Key] =
        [
            Key("callback", .text(.name), "The type of the callback, such as NameCallback."),
            Key("prompt", .text(.any), "Glob over the prompt. Without the key, any prompt."),
            Key(
                "name", .text(.any),
                "Glob over the callback's own name: that of an attribute, a consent or a hidden value."),
            Key("stage", .text(.any), "Glob over the stage of the page."),
            Key("tree", .text(.tree), "Glob over the tree. The tree of a transaction is unknown."),
            Key("page", .integer(1...1000), "The number of the page in the tree, from 1."),
            Key("nth", .integer(1...256), "The number of the callback among those of its type on the page, from 1."),
            Key(
                "user", .oneOrMany(.text(.any)),
                "Globs over the name of the session's user. Usher asks AM for the name."),
        ] + replies + [
            Key(
                "answers", .list(.object(callbackAnswer)),
                "Answers for the user, tree or stage of this entry."),
            Key(
                "otherwise", .choice(["deny", "ask"]),
                "If no answer matches: deny ends the step-up, ask asks a person. Must be the last entry.",
                standard: "deny"),
        ]

    private static let replies: [Key] = [
        Key("value", .text(.any), "The value to give."),
        Key("choose", .text(.any), "The label of the choice."),
        Key("default", .choice(["true"]), "Keep the value that AM has set."),
        Key("totp", .either(.text(.oneTimeSecret), totp), "The secret of time-based one-time passwords (RFC 6238)."),
        Key(
            "hotp", .either(.text(.oneTimeSecret), hotp),
            "The secret of counter-based one-time passwords (RFC 4226). The state directory keeps the counter."),
        Key("device", .object(deviceProfile), "The device profile for a DeviceProfileCallback."),
        Key("question", .text(.any), "The security question. Without the key, the first one."),
        Key("answer", .text(.any), "The answer to the security question, for a KbaCreateCallback."),
        Key("inputs", .map(.name, .text(.any)), "Inputs by name, such as token."),
        Key(
            "redirect", .map(.name, .text(.any)),
            "The parameters with which the browser returns from a RedirectCallback."),
        Key("exit", .text(.any), "The label of the button that leaves a waiting page."),
        Key("after", .duration(0...3_600_000), "The time to wait before the exit.", standard: "0s"),
        Key("ask", .boolean, "true: ask a person (usher transactions, usher answer).", standard: "false"),
    ]

    static let totp = ObjectShape(
        "totp",
        oneTime + [Key("period", .duration(1000...3_600_000), "The time that one password is valid.", standard: "30s")])

    static let hotp = ObjectShape(
        "hotp",
        oneTime + [Key("counter", .integer(0...Int(Int32.max)), "The counter of the first password.", standard: "0")])

    private static let oneTime: [Key] = [
        Key(
            "secret", .text(.oneTimeSecret),
            "The secret in base32, or an otpauth:// URI. The parameters of the URI take precedence.", isRequired: true),
        Key("algorithm", .choice(["SHA1", "SHA256", "SHA512"]), "The hash algorithm.", standard: "SHA1"),
        Key("digits", .integer(OneTimePassword.digitRange), "The number of digits.", standard: "6"),
    ]

    static let deviceProfile = ObjectShape(
        "device_profile",
        Key("identifier", .text(.any), "The identifier of the device.", isRequired: true),
        Key("metadata", .json, "The metadata, if the callback requests it."),
        Key("location", .json, "The location, if the callback requests it: { latitude: 51.45, longitude: -2.59 }."))
}

extension TextFormat {
    static let oneTimeSecret = TextFormat(
        "a secret in base32, such as \"${credential.totp}\", or an otpauth:// URI", isQuotable: false, takesUser: true
    ) { text in
        let kinds: [OneTimePassword.Kind] = [.time(period: 30), .counter(first: 0)]
        return kinds.contains { (try? OneTimePassword(reading: text, OneTimePassword(key: [], kind: $0))) != nil }
    }
}
