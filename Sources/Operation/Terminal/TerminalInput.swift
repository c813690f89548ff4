import EventLoop
import Glibc

/// Lines of whoever sits at the terminal, or of what standard input is.
public enum TerminalInput {
    /// Why there is no line.
    public enum Ending: Error, Sendable {
        /// There is no more.
        case end
        /// The person gave up (Ctrl-C).
        case interrupted
        case tooLong
    }

    private static let longest = 16 << 10
    /// Takes the last character off the line.
    private static let back = "\u{8} \u{8}"

    /// A line, without its end.
    /// - Parameters:
    ///   - question: what is shown where somebody sits there.
    ///   - isSecret: it is not shown while it is typed.
    public static func line(_ question: String, isSecret: Bool) throws(Ending) -> String {
        guard Input.isTerminal else { return try plain() }
        var before = termios()
        guard tcgetattr(0, &before) == 0 else { throw .end }
        var hidden = before
        // keys are taken one by one, Ctrl-C among them: the terminal is left as it was found, whatever is pressed; and the kernel
        // would cut a line at 4,095 bytes
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        guard tcsetattr(0, TCSAFLUSH, &hidden) == 0 else { throw .end }
        // only now: who types at once is not seen either
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
                // a whole character: what goes on a sequence goes with its beginning
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

    /// Nil at the end.
    private static func byte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(0, &byte, 1)
            if count < 0, errno == EINTR { continue }
            return count == 1 ? byte : nil
        }
    }
}
