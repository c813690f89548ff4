import Glibc

/// How a command ends that shows something until somebody has seen enough.
public enum Following {
    /// Ctrl-C, an end that is asked for, and a reader that is gone end the command, and nothing is amiss.
    public static func endsQuietly() {
        for number in [SIGINT, SIGTERM, SIGPIPE] { signal(number) { _ in _exit(0) } }
    }
}
