internal import Commands
@_exported public import Interceptors

/// The program `usher`, with interceptors of one's own: every verb of the command line knows them.
public enum UsherProgram {
    /// Does what the arguments of the process say, and ends it.
    /// - Parameter interceptors: each under the name by which a configuration runs it (`swift: NAME`).
    public static func main(_ interceptors: [String: any Interceptor] = [:]) {
        CommandLineProgram.main(interceptors)
    }
}
