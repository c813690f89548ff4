import ArgumentParser
import Formats
import Operation

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the versions of Usher and its libraries.")

    @Flag(help: "Print JSON.")
    var json = false

    static var text: String {
        "usher \(Version.usher)\nlibevent \(Version.libevent)\nc-ares \(Version.cares)\nPCRE2 \(Version.pcre2)\n"
            + Version.openSSL
    }

    func run() {
        if json {
            let value: JSONValue = [
                "usher": .string(Version.usher), "libevent": .string(Version.libevent),
                "c-ares": .string(Version.cares), "pcre2": .string(Version.pcre2), "openssl": .string(Version.openSSL),
            ]
            Console.print(value.serialized + "\n")
        } else {
            Console.print(Self.text + "\n")
        }
    }
}
