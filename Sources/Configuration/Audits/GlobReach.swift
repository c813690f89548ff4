internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// How far a glob over whole URLs reaches.
struct GlobReach {
    let url: String

    /// It covers hosts that nobody named: a star that stands for more than the names below one domain.
    var isFar: Bool {
        guard let mark = url.firstRange(of: "://") else { return true }
        let authority = url[mark.upperBound...].prefix { $0 != "/" && $0 != "?" }
        let host = authority.hasPrefix("[") ? authority : authority.prefix { $0 != ":" }
        guard Glob.isGlob(host) else { return false }
        guard host.hasPrefix("*.") else { return true }
        let domain = host.dropFirst(2)
        return Glob.isGlob(domain) || !domain.contains(".")
    }

    /// Requests there may be seen: a glob over hosts may be partly opened; that nothing is opened at all can be told of it.
    func isOpened(by opened: InterceptionPolicy) -> Bool {
        guard url.hasPrefix("https:") else { return true }
        guard let head, !Glob.isGlob(head.host) else { return !opened.isEmpty }
        return opened.opens(head.host, port: head.target.port)
    }

    /// What it has for a host, where that is one.
    var head: RequestHead? { try? RequestHead(method: "GET", url: url) }
}
