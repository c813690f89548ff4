import ArgumentParser
import Configuration
import Formats
import Operation

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a configuration. Each fault names file:line:column.",
        discussion: """
            Several files form one configuration: their lists are joined in the order of the files, and their maps are \
            merged. A single value may be set in one file only. A folder stands for its .yaml and .yml files, in the \
            order of their names. --config follows the same rules. A missing secret, such as an unset variable, is a \
            note: only usher serve needs it.
            """)

    @Argument(help: "Files and folders of the configuration (default: \(ConfigurationFile.standard)).")
    var files: [String] = []

    @Flag(help: "Print the JSON Schema of the configuration, for editors, and exit.")
    var printSchema = false

    @Flag(help: "Print a page of all keys with their defaults, in Markdown, and exit.")
    var printReference = false

    @Flag(help: "Print the edits of interceptors, and exit.")
    var printEdits = false

    @Flag(help: "Treat a missing secret as a fault, as usher serve does.")
    var secrets = false

    @Flag(help: "List the interceptors: the requests that each applies to, and its effect.")
    var explain = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        if printSchema { return Console.print(Schema.text) }
        if printReference { return Console.print(Reference.text) }
        if printEdits { return Console.print(EditList.text) }
        let paths = files.isEmpty ? [ConfigurationFile.standard] : files
        let path = paths.joined(separator: ", ")
        var diagnostics: [Diagnostic]
        var stands: Bool
        var interceptors: InterceptorList?
        var authorization: AuthorizationList?
        switch ConfigurationLoader.load(
            paths: paths, environment: ProcessEnvironment.all, interceptors: RegisteredInterceptors.all,
            missing: secrets ? .refused : .noted)
        {
        case .success(let snapshot):
            (diagnostics, stands) = (snapshot.warnings, true)
            let scripts = CommandScripts.host()
            let faults = scripts.start(snapshot.scripts)
            scripts.end()
            diagnostics += faults
            stands = faults.isEmpty
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
        var report: JSONValue = ["file": .string(path), "good": .bool(stands)]
        report["diagnostics"] = .array(
            diagnostics.map {
                [
                    "severity": .string($0.severity.rawValue), "file": .string($0.file), "line": .integer($0.line),
                    "column": .integer($0.column), "message": .string($0.message), "nearest": .optional($0.nearest),
                ]
            })
        report["interceptors"] = interceptors?.json
        report["authorization"] = authorization?.json
        return report
    }
}
