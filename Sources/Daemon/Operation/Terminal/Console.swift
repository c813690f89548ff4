import Glibc

/// Output for the person who started the program.
public enum Console {
    /// Prints a line on standard error, prefixed with the program's name.
    public static func error(_ text: String) { plain("usher: \(text)") }

    /// Prints a line on standard error.
    public static func plain(_ text: String) { errors.say(Array("\(text)\n".utf8)) }

    /// Prints text on standard error without a line end, such as a prompt.
    public static func note(_ text: String) { errors.say(Array(text.utf8)) }

    static func note(_ bytes: [UInt8]) { errors.say(bytes) }

    private static let errors = ErrorLines(2)

    /// Prints text on standard output.
    public static func print(_ text: String) { write(Array(text.utf8)) }

    /// Writes bytes to standard output. If that fails, the program ends with exit code 1, because its result is lost.
    public static func write(_ bytes: [UInt8]) {
        guard !bytes.withUnsafeBytes({ DescriptorBytes.write($0, toDescriptor: 1) }) else { return }
        error("standard output cannot be written: \(String(cString: strerror(errno)))")
        exit(1)
    }
}
