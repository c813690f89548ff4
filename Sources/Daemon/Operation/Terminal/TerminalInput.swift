import Glibc

/// Reads lines from the terminal or from standard input.
public enum TerminalInput {
    /// The reason why there is no line.
    public enum Ending: Error, Sendable {
        /// End of input.
        case end
        /// Ctrl-C.
        case interrupted
        case tooLong
    }

    private static let longest = 16 << 10
    /// Erases the last character on the screen.
    private static let back = "\u{8} \u{8}"

    /// Reads a line, without its end.
    /// - Parameters:
    ///   - question: the prompt, shown on a terminal only.
    ///   - isSecret: true to hide the typed text.
    public static func line(_ question: String, isSecret: Bool) throws(Ending) -> String {
        guard Input.isTerminal else { return try plain() }
        var before = termios()
        guard tcgetattr(0, &before) == 0 else { throw .end }
        var hidden = before
        // keys are read one by one, including Ctrl-C, so that the terminal is restored whatever is pressed; the kernel's line
        // mode also cuts lines at 4,095 bytes
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        guard tcsetattr(0, TCSAFLUSH, &hidden) == 0 else { throw .end }
        // only now, so that fast typing is hidden, too
        Console.note(question)
        defer {
            tcsetattr(0, TCSAFLUSH, &before)
            Console.note("\n")
        }
        return try keys(isSecret: isSecret)
    }

    private static func keys(isSecret: Bool) throws(Ending) -> String {
        func show(_ text: String) { if !isSecret { Console.note(text) } }
        var bytes: [UInt8] = []
        while true {
            guard let key = byte() else { throw bytes.isEmpty ? .end : .interrupted }
            switch key {
            case 0x0A, 0x0D: return String(decoding: bytes, as: UTF8.self)
            case 0x03, 0x1C: throw .interrupted
            case 0x04: if bytes.isEmpty { throw .end }
            case 0x15:
                for byte in bytes where byte & 0xC0 != 0x80 { show(back) }
                bytes = []
            case 0x08, 0x7F:
                if !bytes.isEmpty { show(back) }
                // removes a whole character with its UTF-8 continuation bytes
                while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            case 0..<0x20: break
            default:
                bytes.append(key)
                if !isSecret { Console.note([key]) }
            }
            guard bytes.count <= longest else { throw .tooLong }
        }
    }

    private static func plain() throws(Ending) -> String {
        var bytes: [UInt8] = []
        while let next = byte() {
            if next == 0x0A {
                if bytes.last == 0x0D { bytes.removeLast() }
                return String(decoding: bytes, as: UTF8.self)
            }
            bytes.append(next)
            guard bytes.count <= longest else { throw .tooLong }
        }
        guard !bytes.isEmpty else { throw .end }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Nil at the end of input.
    private static func byte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(0, &byte, 1)
            if count < 0, errno == EINTR { continue }
            return count == 1 ? byte : nil
        }
    }
}
