import Configuration
import Control
import EventLoop
import Glibc
import TLSEngine

extension AdminPort {
    fileprivate var controlToken: ControlToken { token.withBytes { ControlToken(Array($0)) } }
}

/// The daemon's entrances to the admin API: the control socket, the TCP port, and the port of the page.
final class ControlDoors {
    private var socket: ControlServer?
    private var port: ControlServer?
    let page = PagePort()

    var hasSocket: Bool { socket != nil }
    /// The path of the control socket.
    var path: String? { socket?.path }
    var portAddress: SocketAddress? { port?.localAddress }

    /// The routes that every entrance serves.
    func router(of daemon: Supervisor) -> ControlRouter { socket?.router ?? port?.router ?? daemon.router }

    /// Opens the control socket. If the configuration names none, a failure is not fatal.
    /// - Parameter inPlaceOfAnother: true if the previous process still uses the path.
    func openSocket(of daemon: Supervisor, inPlaceOfAnother: Bool = false) throws(Supervisor.StartFault) {
        let snapshot = daemon.configuration.snapshot
        let environment = ProcessEnvironment.all
        let path: String
        var group: SocketGroup?
        var isNamed = snapshot.controlSocket != nil || snapshot.controlGroup != nil
        switch daemon.options.control {
        case .own:
            path = ControlPath.own(snapshot, environment)
            do throws(FileError) { group = try snapshot.controlGroup.map(SocketGroup.init(named:)) } catch {
                throw Supervisor.StartFault(description: error.description)
            }
        case .at(let given):
            path = given
            isNamed = false
        }
        let socket: ControlSocket
        do throws(FileError) { socket = try ControlSocket(at: path, group: group, replaces: inPlaceOfAnother) } catch {
            return try goWithoutSocket(error, isNamed)
        }
        if let words = group?.remark(on: path) { Console.error(words) }
        do throws(SystemError) {
            self.socket = try ControlServer(daemon.loop, .socket(socket), router(of: daemon))
        } catch {
            // not a problem of the file: the system has run out of resources
            socket.remove()
            throw Supervisor.StartFault(description: error.description)
        }
    }

    private func goWithoutSocket(_ fault: FileError, _ isNamed: Bool) throws(Supervisor.StartFault) {
        let words = "there is no control socket: \(fault.description)"
        guard !isNamed else { throw Supervisor.StartFault(description: words + " (admin.socket, admin.group)") }
        Console.error(
            words + "; usher transactions and the other commands cannot reach this daemon (set admin.socket)")
    }

    /// Opens the TCP port if one is configured. A command's proxy continues if that fails.
    /// - Parameter inPlaceOfAnother: true if the previous process still listens on the port.
    func openPort(of daemon: Supervisor, inPlaceOfAnother: Bool = false) throws(Supervisor.StartFault) {
        guard let listener = daemon.configuration.snapshot.admin?.listener,
            let address = SocketAddress(numeric: listener.host, port: listener.port)
        else { return }
        do throws(SystemError) {
            // a reload may change the token
            let listening = try ControlPort(at: address, joins: inPlaceOfAnother) { [unowned daemon] in
                daemon.configuration.snapshot.admin?.controlToken
            }
            port = try ControlServer(daemon.loop, .port(listening), router(of: daemon))
        } catch {
            let remedy =
                error.code == EADDRINUSE
                ? "another program uses that port: choose another with admin.listen" : "see admin.listen"
            let words = "the control interface cannot listen on \(address): \(error.reason) (\(remedy))"
            guard daemon.options.isDaemon else {
                // a daemon with the same configuration may be running
                Console.error("\(words); this command's proxy runs without it")
                return
            }
            throw Supervisor.StartFault(description: words)
        }
    }

    /// Releases the socket's path for another process.
    func stepAside() { socket?.stepAside() }
    /// Takes the path back if the other process failed.
    func stepBack() { socket?.stepBack() }
    /// Closes the port after another process has opened it, and the page, which shows only this process.
    func retirePort() {
        port?.retire()
        page.end()
    }

    func end() {
        socket?.end()
        socket = nil
        port?.end()
        port = nil
        page.end()
    }
}
