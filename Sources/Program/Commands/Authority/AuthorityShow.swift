import ArgumentParser
import Formats
import Operation

struct AuthorityShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the CA's name, fingerprint, dates and files. It is made if there is none.")

    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let context = try CommandContext(file)
        let certificates = try context.knownCertificates()
        let summary = AuthoritySummary(certificates, context.store)
        Console.print(json ? summary.json.serialized + "\n" : summary.text)
        for remark in context.store.remarks(on: certificates.root) { Console.error(remark.words) }
        // the certificate alone can be shown, but interception needs the key, too
        _ = try CommandContext.reporting { () throws(FileError) in try context.store.load() }
    }
}
