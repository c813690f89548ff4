import Control
import EventLoop
import Glibc

/// The port of the page: one on 127.0.0.1 that a link opens, until the process ends or is replaced.
final class PagePort {
    private var server: ControlServer?
    private var access = PageAccess()

    /// Makes a link, and opens the port if it is not open.
    /// - Parameters:
    ///   - wish: the port that the client wants; nil for any.
    ///   - router: the routes to serve.
    func link(
        _ wish: UInt16?, of daemon: Supervisor, _ router: ControlRouter, isOwner: Bool, now: Int
    ) throws(ControlProblem) -> PageLink {
        guard !daemon.isStopping else { throw ControlProblem(409, "the daemon is ending") }
        let port = try open(wish ?? 0, of: daemon, router)
        return PageLink(port: port, key: try access.key(isOwner: isOwner, now: now))
    }

    func token(for key: String, now: Int) -> String? { access.token(for: key, now: now) }

    /// - Returns: the port that is open.
    private func open(_ wish: UInt16, of daemon: Supervisor, _ router: ControlRouter) throws(ControlProblem) -> UInt16 {
        if let port = server?.localAddress?.port {
            guard wish == 0 || wish == port else {
                throw ControlProblem(409, "the page is at port \(port) until the daemon ends; ask without a port")
            }
            return port
        }
        let address = SocketAddress(address: [127, 0, 0, 1], port: wish)
        do throws(SystemError) {
            let tokens = access.tokens
            let listening = try ControlPort(at: address, ownerToken: ControlToken(Array(tokens.owner.utf8))) {
                ControlToken(Array(tokens.member.utf8))
            }
            let server = try ControlServer(daemon.loop, .port(listening), router)
            guard let place = server.localAddress else { throw SystemError("getsockname") }
            daemon.crew.refuseOrigin(at: place)
            self.server = server
            return place.port
        } catch {
            let remedy = error.code == EADDRINUSE ? "; another program uses that port: choose another" : ""
            throw ControlProblem(409, "the page cannot listen on \(address): \(error.reason)\(remedy)")
        }
    }

    func end() {
        server?.end()
        server = nil
    }
}
