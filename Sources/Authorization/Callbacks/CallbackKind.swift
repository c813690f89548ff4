/// How a type of callback is dealt with (docs/transactions.md#answers).
public enum CallbackKind: Equatable, Sendable {
    case text, number, truth, choice
    /// The name of an identity provider, out of a list.
    case provider
    /// A device's profile, as JSON in a text.
    case profile
    /// A security question and its answer.
    case question
    /// A language and a country, each with an input of its own. Goes back as it came, unless an answer is configured.
    case language
    /// Goes back as it came, unless an answer is configured.
    case optional
    /// Inputs with names of their own.
    /// - Parameters:
    ///   - main: the one that takes `value`.
    ///   - isOptional: goes back as it came, unless an answer is configured.
    case named(main: String?, isOptional: Bool)
    /// The user's browser is sent elsewhere and comes back with parameters.
    case redirect
    /// The page is sent again until something has happened elsewhere.
    case waiting
    /// The tree goes on by a link.
    case suspended
    /// Goes back as it came.
    case passive

    /// The types that Usher knows. Any other goes back as it came where it has no input, and is answered by the names of its
    /// inputs alone where it has some.
    public static let known: [String: CallbackKind] = [
        "NameCallback": .text,
        "PasswordCallback": .text,
        "TextInputCallback": .text,
        "StringAttributeInputCallback": .text,
        "ValidatedCreateUsernameCallback": .text,
        "ValidatedCreatePasswordCallback": .text,
        "ReCaptchaCallback": .text,
        "NumberAttributeInputCallback": .number,
        "BooleanAttributeInputCallback": .truth,
        "TermsAndConditionsCallback": .truth,
        "ConsentMappingCallback": .truth,
        "ChoiceCallback": .choice,
        "ConfirmationCallback": .choice,
        "SelectIdPCallback": .provider,
        "DeviceProfileCallback": .profile,
        "KbaCreateCallback": .question,
        "LanguageCallback": .language,
        "HiddenValueCallback": .optional,
        "IdPCallback": .named(main: "token", isOptional: false),
        "ReCaptchaEnterpriseCallback": .named(main: "token", isOptional: false),
        "AppIntegrityCallback": .named(main: "token", isOptional: false),
        "PingOneProtectEvaluationCallback": .named(main: "signals", isOptional: false),
        "PingOneProtectInitializeCallback": .named(main: nil, isOptional: true),
        "DeviceBindingCallback": .named(main: nil, isOptional: false),
        "DeviceSigningVerifierCallback": .named(main: nil, isOptional: false),
        "RedirectCallback": .redirect,
        "PollingWaitCallback": .waiting,
        "SuspendedTextOutputCallback": .suspended,
        "MetadataCallback": .passive,
        "TextOutputCallback": .passive,
        "NameValueOutputCallback": .passive,
        "X509CertificateCallback": .passive,
    ]

    /// The keys of an entry of `answers` that say what is filled in.
    public enum Reply: String, CaseIterable, Sendable {
        case value, choose, preset = "default", totp, hotp, device, answer, inputs, redirect, exit, ask
    }

    /// Those that such a callback takes.
    /// - Parameter type: what AM presets depends on it.
    public func replies(_ type: String) -> [Reply] {
        switch self {
        case .text where type == "TextInputCallback" || type == "StringAttributeInputCallback":
            [.value, .preset, .totp, .hotp, .inputs, .ask]
        case .text: [.value, .totp, .hotp, .inputs, .ask]
        case .number: [.value, .preset, .inputs, .ask]
        case .truth where type == "BooleanAttributeInputCallback": [.value, .choose, .preset, .inputs, .ask]
        case .truth: [.value, .choose, .inputs, .ask]
        case .choice: [.value, .choose, .preset, .inputs, .ask]
        case .provider: [.value, .choose, .inputs, .ask]
        case .profile: [.device, .value, .inputs, .ask]
        case .question: [.answer, .inputs, .ask]
        case .language: [.value, .inputs, .ask]
        case .optional: [.value, .preset, .totp, .hotp, .inputs, .ask]
        case .named(let main, _): main == nil ? [.inputs, .ask] : [.value, .inputs, .ask]
        case .redirect: [.redirect]
        case .waiting: [.exit]
        case .suspended, .passive: []
        }
    }

    /// True where a configured answer can be filled in.
    public var takesAnswer: Bool {
        switch self {
        case .suspended, .passive: false
        default: true
        }
    }

    /// The types that a configuration can answer, by name.
    public static let answerable = known.filter(\.value.takesAnswer).map(\.key).sorted()
}
