import ArgumentParser
import Operation
import TLSEngine

struct AuthorityExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the CA's certificate, for programs that are to trust it. It is made if there is none.",
        discussion: "The command never writes the private key.")

    enum Form: String, ExpressibleByArgument, CaseIterable {
        case pem, der, p12
    }

    @OptionGroup var file: ConfigurationFile

    @Option(help: "The format: pem, der, or p12 (a truststore for Java).")
    var form = Form.pem

    @Option(help: "The password of the p12 (default: \(TrustBundle.password)).")
    var password: String?

    @Option(help: ArgumentHelp("Write here instead of to standard output.", valueName: "file"))
    var output: String?

    func validate() throws {
        if password != nil, form != .p12 { throw ValidationError("--password requires --form p12") }
        if password?.isEmpty == true { throw ValidationError("--password is empty; Java requires a password") }
    }

    func run() throws {
        if form != .pem, output == nil, Output.isTerminal {
            throw CommandExit.usage("\(form.rawValue) is binary: write it to a file with --output")
        }
        let root = try CommandContext(file).knownCertificates().root
        let bytes: [UInt8]
        switch form {
        case .pem: bytes = root.pem
        case .der: bytes = root.der
        case .p12:
            let password = password ?? TrustBundle.password
            do throws(MaterialFault) {
                bytes = try PKCS12.trustStore([root], password: password)
            } catch {
                throw CommandExit.failure("the p12 cannot be made: \(error.words)")
            }
            if self.password == nil { Console.error("the password is \(password)") }
        }
        try CommandContext.reporting { () throws(FileError) in try Output.write(bytes, to: output) }
    }
}
