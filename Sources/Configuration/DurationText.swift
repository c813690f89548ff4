internal import Formats

/// Times as the command line takes them: written as in configurations.
public enum DurationText {
    /// Whole seconds, at least one; nil for anything else.
    public static func seconds(_ text: String) -> Int? {
        guard case .value(let milliseconds) = Units.read(text, Units.times), milliseconds >= 1000,
            milliseconds % 1000 == 0
        else { return nil }
        return milliseconds / 1000
    }
}
