import ArgumentParser
import Operation

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List or remove the second factors that Usher plays for test users.",
        subcommands: [DevicesShow.self, DevicesForget.self], defaultSubcommand: DevicesShow.self)

    static var list: DeviceList { DeviceList(StateDirectory(ProcessEnvironment.all)) }
}

struct DevicesShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the registered devices, without their secrets.")

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let list = DevicesCommand.list
        let text = try CommandContext.reporting { () throws(FileError) in
            json ? TerminalText.json(try list.json()) + "\n" : try list.text()
        }
        if text.isEmpty {
            Console.error("no device is registered")
        } else {
            Console.print(text)
        }
    }
}

struct DevicesForget: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove a device here. AM keeps it until it is removed there, too.")

    @Argument(help: "The id of the device; usher devices lists it.")
    var id: String

    func run() throws {
        let id = id
        let wasThere = try CommandContext.reporting { () throws(FileError) in try DevicesCommand.list.forget(id) }
        guard wasThere else { throw CommandExit.failure("no device has the id \(id); usher devices lists them") }
        Console.error("removed; a running daemon removes it at its next reload")
    }
}
