import Authorization
import Configuration
public import Control
import EventLoop
import Glibc
import Journal
import ProxyCore
public import ProxyDriver
import TLSEngine

extension TransactionTable: TransactionDirectory {}
extension LoginTable: LockoutDirectory {}
extension Supervisor: ServicePhases {}

extension AdminPort {
    fileprivate var controlToken: ControlToken { token.withBytes { ControlToken(Array($0)) } }
}

extension Supervisor {
    /// Opens the control socket. Where nobody named one, the daemon goes without what it cannot have.
    /// - Parameter inPlaceOfAnother: the process that runs so far still answers there.
    func openControl(_ snapshot: Snapshot, inPlaceOfAnother: Bool = false) throws(StartFault) -> ControlServer? {
        let environment = ProcessEnvironment.all
        let path: String
        var group: SocketGroup?
        var isNamed = snapshot.controlSocket != nil || snapshot.controlGroup != nil
        switch options.control {
        case .own:
            path = ControlPath.own(snapshot, environment)
            do throws(FileError) { group = try snapshot.controlGroup.map(SocketGroup.init(named:)) } catch {
                throw StartFault(description: error.description)
            }
        case .at(let given):
            path = given
            isNamed = false
        }
        let socket: ControlSocket
        do throws(FileError) { socket = try ControlSocket(at: path, group: group, replaces: inPlaceOfAnother) } catch {
            return try goWithoutControl(error, isNamed)
        }
        if let words = group?.remark(on: path) { Console.error(words) }
        do throws(SystemError) {
            return try ControlServer(loop, .socket(socket), adminPort?.router ?? router)
        } catch {
            // it is not the file: the system has nothing to give
            socket.remove()
            throw StartFault(description: error.description)
        }
    }

    private func goWithoutControl(_ fault: FileError, _ isNamed: Bool) throws(StartFault) -> ControlServer? {
        let words = "there is no control socket: \(fault.description)"
        guard !isNamed else { throw StartFault(description: words + " (admin.socket, admin.group)") }
        Console.error(
            words + "; usher transactions, answer and the like do without this daemon (admin.socket names another)")
        return nil
    }

    /// Opens the port of the interface, where there is to be one. A command's proxy goes without one that it cannot have.
    /// - Parameter inPlaceOfAnother: the process that runs so far still listens there.
    func openAdminPort(
        _ snapshot: Snapshot, inPlaceOfAnother: Bool = false
    ) throws(StartFault) -> ControlServer? {
        guard let listener = snapshot.admin?.listener,
            let address = SocketAddress(numeric: listener.host, port: listener.port)
        else { return nil }
        do throws(SystemError) {
            // a reload may bring another token
            let port = try ControlPort(at: address, joins: inPlaceOfAnother) { [unowned self] in
                self.snapshot.admin?.controlToken
            }
            return try ControlServer(loop, .port(port), control?.router ?? router)
        } catch {
            let remedy =
                error.code == EADDRINUSE
                ? "another program has that port: choose another with admin.listen" : "see admin.listen"
            let words = "the control interface cannot listen on \(address): \(error.reason) (\(remedy))"
            guard options.isDaemon else {
                // a daemon of the same configuration may run beside a command
                Console.error("\(words); this command's proxy does without it")
                return nil
            }
            throw StartFault(description: words)
        }
    }

    private var router: ControlRouter {
        var routes =
            HealthRoutes(self).all + MetricsRoutes(self).all + TransactionRoutes(tables.transactions).all
            + LockoutRoutes(tables.logins).all
        routes += ConfigurationRoutes(ServedConfiguration(self)).all + LogRoutes(ServedLog(self)).all
        routes += FlowRoutes(FlowDesk(self)).all + JourneyRoutes(FlowDesk(self)).all
        if options.isDaemon { routes += LifeRoutes(SupervisorLife(self)).all + ReloadRoutes(SupervisorLife(self)).all }
        return ControlRouter(routes)
    }
}

/// What is asked of the journal.
extension Supervisor {
    var keepsFlows: Bool { journal != nil && snapshot.journal != nil }
    var secrets: (any SecretKeeper)? { snapshot.journal?.reveals == true ? journal?.secrets : nil }
    /// Where clients ask that speak no TLS with the proxy.
    var replayAddress: ListeningAddress? { listening.first { !$0.isSecure } }
}
