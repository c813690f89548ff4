internal import Authorization
internal import Declaration
internal import Interception

extension KeyTable {
    static let device = KeyGroup(
        Device(name: "", users: [], server: AuthorizationServer(url: "", host: "")),
        .key("user", .oneOrMany(.text(.any)), "Globs over the user's name in AM.", isRequired: true),
        .key("name", .text(.name), "The device's name, here and in AM. Without the key, the user's name."),
        .key(
            "am", .text(.serverURL),
            "The AM server for registration: one of those in am. Optional if there is only one."),
        .flag("oath", \.oath, "Register for one-time passwords, and answer with them."),
        .texts("prompt", \.prompts, .any, "Globs over the prompts that ask for a one-time password."),
        .key(
            "push", \.push, .choice(Device.Decision.allCases.map(\.rawValue)),
            "Register for pushes, and respond to them this way. Without the key, the device does not register."
        ) { $0.text.flatMap(Device.Decision.init) },
        .number("delay", \.delay, .duration(0...3_600_000), "The time from a push to its answer."),
        .choice(
            "number", \.number, "The answer to a number challenge: the number that the journey shows, or a wrong one."),
        .flag(
            "seen", \.isSeen,
            "Also take part in journeys that apps run through the proxy: keep registrations, answer pushes."))
}
