public import Interception

/// One entry of `devices`: a second factor that Usher plays for test users.
public struct Device: Equatable, Sendable {
    /// What becomes of a push.
    public enum Decision: String, CaseIterable, Sendable { case approve, deny, ignore }
    /// What a number challenge is answered with: the number that the journey shows, or another one of those offered.
    public enum Number: String, CaseIterable, Sendable { case shown, wrong }

    public var name: String
    /// Globs over the names that AM has for the session's user.
    public var users: [String]
    /// Where devices may be registered and answers go, and nowhere else.
    public var server: AuthorizationServer
    /// It takes part in one-time passwords.
    public var oath = true
    /// Nil where it takes no part in pushes.
    public var push: Decision?
    /// Milliseconds from a push to its answer.
    public var delay = 0
    public var number = Number.shown
    /// Globs over the prompts that ask for a one-time password.
    public var prompts = Device.standardPrompts
    /// It takes part in journeys that apps run themselves, too.
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
