/// The treatment of a type of callback (docs/transactions.md#answers).
public enum CallbackKind: Equatable, Sendable {
    case text, number, truth, choice
    /// The name of an identity provider, selected from a list.
    case provider
    /// A device profile, as JSON in a string.
    case profile
    /// A security question and its answer.
    case question
    /// A language and a country, each with its own input. Goes back unchanged without a configured answer.
    case language
    /// Goes back unchanged without a configured answer.
    case optional
    /// Named inputs.
    /// - Parameters:
    /// - main: the input that takes `value`.
    /// - isOptional: true if it goes back unchanged without a configured answer.
    case named(main: String?, isOptional: Bool)
    /// The user's browser visits another site and returns with parameters.
    case redirect
    /// The page is polled until something happens elsewhere.
    case waiting
    /// The tree continues through a link.
    case suspended
    /// Always goes back unchanged.
    case passive

    /// The known types. An unknown type without inputs goes back unchanged. One with inputs is answered by input names only.
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

    /// The keys of an `answers` entry that define the content.
    public enum Reply: String, CaseIterable, Sendable {
        case value, choose, preset = "default", totp, hotp, device, answer, inputs, redirect, exit, ask
    }

    /// The keys that this kind accepts.
    /// - Parameter type: the callback's type, because AM has defaults for some types only.
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

    /// True if a configured answer can be filled in.
    public var takesAnswer: Bool {
        switch self {
        case .suspended, .passive: false
        default: true
        }
    }

    /// The names of the types that the configuration can answer.
    public static let answerable = known.filter(\.value.takesAnswer).map(\.key).sorted()
}
