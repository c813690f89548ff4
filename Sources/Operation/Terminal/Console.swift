import Glibc

/// Words for the person who started the program.
public enum Console {
    /// One line on standard error, with the program's name before it.
    public static func error(_ text: String) { plain("usher: \(text)") }

    /// One line on standard error.
    public static func plain(_ text: String) { errors.say(Array("\(text)\n".utf8)) }

    /// Text on standard error, as it is: a question.
    public static func note(_ text: String) { errors.say(Array(text.utf8)) }

    static func note(_ bytes: [UInt8]) { errors.say(bytes) }

    private static let errors = ErrorLines(2)

    /// Text on standard output.
    public static func print(_ text: String) { write(Array(text.utf8)) }

    /// Bytes on standard output. Where they cannot go there, what was asked for is not done: the program ends with exit code 1.
    public static func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let count = Glibc.write(1, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    let reason = String(cString: strerror(errno))
                    error("standard output cannot be written: \(reason)")
                    exit(1)
                }
                sent += count
            }
        }
    }
}
