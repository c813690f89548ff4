import ArgumentParser
import Glibc
import Operation

/// How a command ends when it cannot do what it was asked.
enum CommandExit {
    /// The answer is no: exit code 1.
    static func failure(_ text: String) -> ExitCode {
        Console.error(text)
        return ExitCode(1)
    }

    /// The command was not understood: exit code 2.
    static func stop(_ text: String) -> Never {
        Console.plain(text)
        exit(2)
    }

    static func usage(_ text: String) -> ExitCode {
        Console.error(text)
        return ExitCode(2)
    }
}
