import ArgumentParser

struct AuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca", abstract: "Show, export or replace the CA of intercepted hosts.",
        subcommands: [AuthorityShow.self, AuthorityExport.self, AuthorityRotate.self])
}
