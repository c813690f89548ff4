internal import Authorization
internal import Declaration

extension KeyTable {
    static let device: [Key] = [
        Key("user", .oneOrMany(.text(.any)), "Globs over the user's name in AM.", isRequired: true),
        Key("name", .text(.name), "The device's name, here and in AM. Without the key, the user's name."),
        Key(
            "am", .text(.serverURL),
            "The AM server for registration: one of those in am. Optional if there is only one."),
        Key("oath", .boolean, "Register for one-time passwords, and answer with them.", standard: "true"),
        Key(
            "prompt", .oneOrMany(.text(.any)), "Globs over the prompts that ask for a one-time password.",
            standard: "[\"*verification code*\", \"*one*time*\", \"*passcode*\", \"*otp*\"]"),
        Key(
            "push", .choice(Device.Decision.allCases.map(\.rawValue)),
            "Register for pushes, and respond to them this way. Without the key, the device does not register."),
        Key("delay", .duration(0...3_600_000), "The time from a push to its answer.", standard: "0s"),
        Key(
            "number", .choice(Device.Number.allCases.map(\.rawValue)),
            "The answer to a number challenge: the number that the journey shows, or a wrong one.",
            standard: "shown"),
        Key(
            "seen", .boolean,
            "Also take part in journeys that apps run through the proxy: keep registrations, answer pushes.",
            standard: "false"),
    ]
}
