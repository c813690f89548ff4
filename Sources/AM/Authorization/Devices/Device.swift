public import Interception

/// One entry of `devices`: a second factor that Usher simulates for test users.
public struct Device: Equatable, Sendable {
    /// The device's response to a push.
    public enum Decision: String, CaseIterable, Sendable { case approve, deny, ignore }
    /// The device's response to a number challenge: the number that the journey shows, or another offered one.
    public enum Number: String, CaseIterable, Sendable { case shown, wrong }

    public var name: String
    /// Globs for AM's names of the session's user.
    public var users: [String]
    /// The only server that receives registrations and answers.
    public var server: AuthorizationServer
    /// True if the device answers one-time passwords.
    public var oath = true
    /// The response to pushes; nil if the device ignores pushes and does not register for them.
    public var push: Decision?
    /// The delay from a push to its answer, in milliseconds.
    public var delay = 0
    public var number = Number.shown
    /// Globs for the prompts that ask for a one-time password.
    public var prompts = Device.standardPrompts
    /// True if the device also takes part in journeys that apps run themselves.
    public var isSeen = false

    public static let standardPrompts = ["*verification code*", "*one*time*", "*passcode*", "*otp*"]

    public init(name: String, users: [String], server: AuthorizationServer) {
        self.name = name
        self.users = users
        self.server = server
    }

    func serves(_ names: [String]) -> Bool {
        users.contains { user in names.contains { Glob.matches(user, $0, ignoringCase: true) } }
    }
}
