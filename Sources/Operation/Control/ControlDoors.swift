import Configuration
import Control
import EventLoop
import Glibc
import TLSEngine

extension AdminPort {
    fileprivate var controlToken: ControlToken { token.withBytes { ControlToken(Array($0)) } }
}

/// Where the daemon is asked about itself: its socket, and its port.
final class ControlDoors {
    private var socket: ControlServer?
    private var port: ControlServer?

    var hasSocket: Bool { socket != nil }
    /// The socket's.
    var path: String? { socket?.path }
    var portAddress: SocketAddress? { port?.localAddress }

    /// Opens the control socket. Where nobody named one, the daemon goes without what it cannot have.
    /// - Parameter inPlaceOfAnother: the process that runs so far still answers there.
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
            self.socket = try ControlServer(daemon.loop, .socket(socket), port?.router ?? daemon.router)
        } catch {
            // it is not the file: the system has nothing to give
            socket.remove()
            throw Supervisor.StartFault(description: error.description)
        }
    }

    private func goWithoutSocket(_ fault: FileError, _ isNamed: Bool) throws(Supervisor.StartFault) {
        let words = "there is no control socket: \(fault.description)"
        guard !isNamed else { throw Supervisor.StartFault(description: words + " (admin.socket, admin.group)") }
        Console.error(
            words + "; usher transactions, answer and the like do without this daemon (admin.socket names another)")
    }

    /// Opens the port of the interface, where there is to be one. A command's proxy goes without one that it cannot have.
    /// - Parameter inPlaceOfAnother: the process that runs so far still listens there.
    func openPort(of daemon: Supervisor, inPlaceOfAnother: Bool = false) throws(Supervisor.StartFault) {
        guard let listener = daemon.configuration.snapshot.admin?.listener,
            let address = SocketAddress(numeric: listener.host, port: listener.port)
        else { return }
        do throws(SystemError) {
            // a reload may bring another token
            let listening = try ControlPort(at: address, joins: inPlaceOfAnother) { [unowned daemon] in
                daemon.configuration.snapshot.admin?.controlToken
            }
            port = try ControlServer(daemon.loop, .port(listening), socket?.router ?? daemon.router)
        } catch {
            let remedy =
                error.code == EADDRINUSE
                ? "another program has that port: choose another with admin.listen" : "see admin.listen"
            let words = "the control interface cannot listen on \(address): \(error.reason) (\(remedy))"
            guard daemon.options.isDaemon else {
                // a daemon of the same configuration may run beside a command
                Console.error("\(words); this command's proxy does without it")
                return
            }
            throw Supervisor.StartFault(description: words)
        }
    }

    /// Another process is to have the socket's path.
    func stepAside() { socket?.stepAside() }
    /// It does not come.
    func stepBack() { socket?.stepBack() }
    /// Another process answers at the port.
    func retirePort() { port?.retire() }

    func end() {
        socket?.end()
        socket = nil
        port?.end()
        port = nil
    }
}
