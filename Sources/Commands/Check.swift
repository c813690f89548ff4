import ArgumentParser
import Configuration
import Formats
import HTTPCodec
import Operation

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a configuration. Each fault names file:line:column.",
        discussion: """
            Several files are one configuration: their lists are joined in the order of the files, their maps merged, and \
            what can be given once stands in one of them. A folder stands for the files in it whose names end in .yaml or \
            .yml, in the order of their names. What --config takes is meant so, too. A secret that is not there, as a variable \
            that is not set, is a note: usher serve alone needs it.
            """)

    @Argument(help: "Files and folders of the configuration (default: \(ConfigurationFile.standard)).")
    var files: [String] = []

    @Flag(help: "Print the JSON Schema of the configuration, for editors, and do nothing else.")
    var printSchema = false

    @Flag(help: "Print what interceptors can do, and do nothing else.")
    var printEdits = false

    @Flag(help: "A secret that is not there is a fault, as it is for usher serve.")
    var secrets = false

    @Flag(help: "List the interceptors as well: whom each concerns, and what it comes to.")
    var explain = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        if printSchema { return Console.print(Schema.text) }
        if printEdits { return Console.print(EditList.text) }
        let paths = files.isEmpty ? [ConfigurationFile.standard] : files
        let path = paths.joined(separator: ", ")
        let diagnostics: [Diagnostic]
        let stands: Bool
        var interceptors: InterceptorList?
        var authorization: AuthorizationList?
        switch ConfigurationLoader.load(
            paths: paths, environment: ProcessEnvironment.all, interceptors: RegisteredInterceptors.all,
            missing: secrets ? .refused : .noted)
        {
        case .success(let snapshot):
            (diagnostics, stands) = (snapshot.warnings, true)
            if explain {
                interceptors = InterceptorList(snapshot.settings)
                authorization = AuthorizationList(snapshot.settings)
            }
        case .failure(let faults): (diagnostics, stands) = (faults.diagnostics, false)
        }
        if json {
            Console.print(report(path, diagnostics, stands, interceptors, authorization).serialized + "\n")
        } else {
            for diagnostic in diagnostics { Console.print(diagnostic.description + "\n") }
            let faults = diagnostics.filter { $0.severity == .error }.count
            let word = faults == 1 ? "fault" : "faults"
            Console.print(stands ? "\(path): good\n" : "\(path): \(faults) \(word)\n")
            let style = TextStyle(environment: ProcessEnvironment.all)
            if let interceptors { Console.print("\n" + interceptors.text(style)) }
            if let authorization { Console.print(authorization.text(style)) }
        }
        if !stands { throw ExitCode(1) }
    }

    private func report(
        _ path: String, _ diagnostics: [Diagnostic], _ stands: Bool, _ interceptors: InterceptorList?,
        _ authorization: AuthorizationList?
    ) -> JSONValue {
        .object(
            [
                .init("file", .string(path)), .init("good", .bool(stands)),
                .init(
                    "diagnostics",
                    .array(
                        diagnostics.map {
                            .object([
                                .init("severity", .string($0.severity.rawValue)), .init("file", .string($0.file)),
                                .init("line", .integer($0.line)),
                                .init("column", .integer($0.column)), .init("message", .string($0.message)),
                                .init("nearest", $0.nearest.map(JSONValue.string) ?? .null),
                            ])
                        })),
            ] + (interceptors.map { [.init("interceptors", $0.json)] } ?? [])
                + (authorization.map { [.init("authorization", $0.json)] } ?? []))
    }
}
