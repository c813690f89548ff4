import ArgumentParser
import Formats
import Operation
import TLSEngine

struct AuthorityRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Make a new CA, signed by the present one, and destroy the present key.",
        discussion: """
            Clients that trust the present CA also accept certificates of the new one, until the present CA expires. \
            Give new clients the new CA.
            """)

    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let store = try CommandContext(file).store
        let (old, new) = try CommandContext.reporting { () throws(FileError) in try store.rotate() }
        if json {
            let value: JSONValue = [
                "old": AuthoritySummary.json(old.certificate), "new": AuthoritySummary.json(new.certificate),
            ]
            Console.print(value.serialized + "\n")
        } else {
            Console.print("old root\n\(AuthoritySummary.text(old.certificate))")
            Console.print("new root\n\(AuthoritySummary.text(new.certificate))")
        }
        Console.error(
            "the old key is destroyed; a running daemon uses the new CA after a reload: systemctl reload usher, or SIGHUP"
        )
    }
}
