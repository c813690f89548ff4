/// AM's users: names and passwords, second factors, and lockouts.
struct IdentityStore: Sendable {
    var directory: Directory
    var devices = DeviceRegister()
    var lockouts: Lockouts

    init(_ options: SandboxOptions) {
        directory = options.directory
        lockouts = Lockouts(limit: options.lockout, hold: options.lives.lockout)
    }

    /// The user of the journey's answers; nil if they are wrong. A tree without a password relies on its nodes.
    func user(of journey: Journey) -> String? {
        guard let claimed = journey.claimed else { return nil }
        if journey.tree.checksItself, journey.password == nil {
            return directory.knows(claimed, realm: journey.realm) ? claimed : nil
        }
        guard journey.name != nil || journey.password != nil else { return claimed }
        return directory.accepts(claimed, journey.password ?? "", realm: journey.realm) ? claimed : nil
    }
}
