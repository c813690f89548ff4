internal import Formats

/// Parses durations of the command line, with the configuration's syntax.
public enum DurationText {
    /// A whole number of seconds, at least 1; nil for anything else.
    public static func seconds(_ text: String) -> Int? {
        guard case .value(let milliseconds) = Units.read(text, Units.times), milliseconds >= 1000,
            milliseconds % 1000 == 0
        else { return nil }
        return milliseconds / 1000
    }
}
