internal import Commands
@_exported public import Interceptors

/// The program `usher` with interceptors of your own, which every command knows.
public enum UsherProgram {
    /// Runs the command in the process's arguments and exits.
    /// - Parameter interceptors: the interceptors by the names that configurations use (`swift: NAME`).
    public static func main(_ interceptors: [String: any Interceptor] = [:]) {
        CommandLineProgram.main(interceptors)
    }
}
