import ArgumentParser
import Glibc
import Operation

/// The exits of commands that fail.
enum CommandExit {
    /// The answer is no: exit code 1.
    static func failure(_ text: String) -> ExitCode {
        Console.error(text)
        return ExitCode(1)
    }

    /// Wrong use: exit code 2.
    static func stop(_ text: String) -> Never {
        Console.plain(text)
        exit(2)
    }

    static func usage(_ text: String) -> ExitCode {
        Console.error(text)
        return ExitCode(2)
    }
}
