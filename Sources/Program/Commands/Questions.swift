import Glibc
import Operation

/// Prompts on the terminal.
enum Questions {
    static var canBeAsked: Bool { isatty(0) == 1 && isatty(1) == 1 }

    /// Prompts until the answer is valid. Commas separate several values; `none` means no value, and an empty line the default.
    /// - Parameters:
    ///   - standard: the default, as it would be typed.
    ///   - set: stores the values in the configuration.
    static func ask(
        _ words: String, _ standard: String, into first: inout FirstConfiguration,
        _ set: (inout FirstConfiguration, [String]) -> Void
    ) throws {
        while true {
            Console.print("\(words) [\(standard)]: ")
            guard let line = readLine() else {
                Console.print("\n")
                throw CommandExit.usage("the questions were not answered; no file was written")
            }
            let text = line.allSatisfy(\.isWhitespace) ? standard : line
            var changed = first
            set(&changed, answers(text))
            guard let fault = changed.faults.first else {
                first = changed
                return
            }
            Console.print("  \(fault)\n")
        }
    }

    private static func answers(_ text: String) -> [String] {
        let parts = text.split { $0 == "," || $0.isWhitespace }.map(String.init)
        return parts == ["none"] ? [] : parts
    }
}
