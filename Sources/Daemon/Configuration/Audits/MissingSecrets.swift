/// The handling of references to missing secrets: an unset variable, or a file that is missing or unreadable to this user.
public enum MissingSecrets: Sendable {
    /// An error, for commands that need the secret.
    case refused
    /// A note, with a stand-in as the value, for commands that only inspect the configuration.
    case noted
}
