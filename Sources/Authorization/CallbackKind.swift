/// How a type of callback is dealt with.
public enum CallbackKind: Sendable {
    case text, number, truth, choice
    /// Goes back as it came, unless an answer is configured.
    case optional
    /// Goes back as it came.
    case passive
    case unsupported

    /// The types that Usher knows. Any other goes back as it came where it has no input, and ends the step-up where it
    /// has one.
    public static let known: [String: CallbackKind] = [
        "NameCallback": .text,
        "PasswordCallback": .text,
        "TextInputCallback": .text,
        "StringAttributeInputCallback": .text,
        "ValidatedCreateUsernameCallback": .text,
        "ValidatedCreatePasswordCallback": .text,
        "SelectIdPCallback": .text,
        "DeviceProfileCallback": .text,
        "NumberAttributeInputCallback": .number,
        "BooleanAttributeInputCallback": .truth,
        "TermsAndConditionsCallback": .truth,
        "ConsentMappingCallback": .truth,
        "ChoiceCallback": .choice,
        "ConfirmationCallback": .choice,
        "HiddenValueCallback": .optional,
        "MetadataCallback": .passive,
        "TextOutputCallback": .passive,
        "PingOneProtectInitializeCallback": .passive,
        "RedirectCallback": .unsupported,
    ]

    /// True where a configured answer can be filled in.
    public var takesAnswer: Bool {
        switch self {
        case .text, .number, .truth, .choice, .optional: true
        case .passive, .unsupported: false
        }
    }

    /// The types that a configuration can answer, by name.
    public static let answerable = known.filter(\.value.takesAnswer).map(\.key).sorted()
}
