import ArgumentParser

struct AuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca", abstract: "Show, export or replace the CA that speaks for intercepted hosts.",
        subcommands: [AuthorityShow.self, AuthorityExport.self, AuthorityRotate.self])
}
