import Glibc

/// The end of commands that show a stream until they are interrupted.
public enum Following {
    /// Makes Ctrl-C, SIGTERM and a closed pipe end the command without an error.
    public static func endsQuietly() {
        for number in [SIGINT, SIGTERM, SIGPIPE] { signal(number) { _ in _exit(0) } }
    }
}
