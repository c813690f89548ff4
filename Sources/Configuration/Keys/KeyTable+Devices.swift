internal import Authorization
internal import Declaration

extension KeyTable {
    static let device: [Key] = [
        Key("user", .oneOrMany(.text(.any)), "Globs over the user's name, as AM has it.", isRequired: true),
        Key("name", .text(.name), "What the device is called, here and at AM; the user's name where it is missing."),
        Key(
            "am", .text(.serverURL),
            "Where it may be registered: one of the servers under am. May be left out where there is one."),
        Key("oath", .boolean, "It registers for one-time passwords, and answers with them.", standard: "true"),
        Key(
            "prompt", .oneOrMany(.text(.any)), "Globs over the prompts that ask for a one-time password.",
            standard: "[\"*verification code*\", \"*one*time*\", \"*passcode*\", \"*otp*\"]"),
        Key(
            "push", .choice(Device.Decision.allCases.map(\.rawValue)),
            "It registers for pushes, and this is what becomes of them. Without the key it does not."),
        Key("delay", .duration(0...3_600_000), "From a push to its answer.", standard: "0s"),
        Key(
            "number", .choice(Device.Number.allCases.map(\.rawValue)),
            "What a number challenge is answered with: the number that the journey shows, or another one.",
            standard: "shown"),
        Key(
            "seen", .boolean,
            "It takes part in journeys that apps run through this proxy themselves, too: it keeps what they register, and answers a push that they wait for.",
            standard: "false"),
    ]
}
