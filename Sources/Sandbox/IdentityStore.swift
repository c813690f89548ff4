/// What AM knows of its users: names and passwords, second factors, and who may not sign in for a while.
struct IdentityStore: Sendable {
    let directory: Directory
    var devices = DeviceRegister()
    var lockouts: Lockouts

    init(_ options: SandboxOptions) {
        directory = options.directory
        lockouts = Lockouts(limit: options.lockout, hold: options.lives.lockout)
    }

    /// Whose answers these are; nil where they are wrong. A tree that asks for no password believes what its nodes found.
    func user(of journey: Journey) -> String? {
        guard let claimed = journey.claimed else { return nil }
        guard journey.name != nil || journey.password != nil else { return claimed }
        return directory.accepts(claimed, journey.password ?? "", realm: journey.realm) ? claimed : nil
    }
}
