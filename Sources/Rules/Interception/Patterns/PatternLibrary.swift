internal import CPCRE2

/// The PCRE2 library of this process.
public enum PatternLibrary {
    /// The version of the loaded library, as in `10.42 2022-12-11` (pcre2_config(3)).
    public static var version: String {
        let count = pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), nil)
        guard count > 0 else { return "unknown" }
        var buffer = [UInt8](repeating: 0, count: Int(count))
        guard pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), &buffer) > 0 else { return "unknown" }
        return String(decoding: buffer.dropLast(), as: UTF8.self)
    }
}
