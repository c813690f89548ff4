import ArgumentParser
import HTTPCodec
import Usher

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the versions of usher, libevent, PCRE2 and OpenSSL.")

    @Flag(help: "Print JSON.")
    var json = false

    func run() {
        if json {
            let value = JSONValue.object([
                .init("usher", .string(Version.usher)), .init("libevent", .string(Version.libevent)),
                .init("pcre2", .string(Version.pcre2)), .init("openssl", .string(Version.openSSL)),
            ])
            Console.print(value.serialized + "\n")
        } else {
            Console.print(
                "usher \(Version.usher)\nlibevent \(Version.libevent)\nPCRE2 \(Version.pcre2)\n\(Version.openSSL)\n")
        }
    }
}
