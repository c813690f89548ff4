import Configuration
import ProxyCore

extension Supervisor {
    /// What `http://usher.proxy/` shows. Where the CA cannot be read, the pages go without: who intercepts learns of that
    /// elsewhere.
    /// - Parameter address: one that the proxy listens on.
    static func pages(_ snapshot: Snapshot, at address: ListeningAddress?) -> OwnPages? {
        let listener = address.flatMap { Listener($0.description) }
        let state = StateDirectory(ProcessEnvironment.all)
        let authority = try? AuthorityStore(snapshot.tls.authority, in: state).certificates()
        let proxy = listener.flatMap { ProxyAddress([$0]) } ?? ProxyAddress(Snapshot.defaultListeners)
        return try? PageBuilder(authority: authority, proxy: proxy?.url ?? "").pages()
    }
}
