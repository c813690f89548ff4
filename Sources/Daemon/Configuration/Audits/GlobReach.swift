internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// The reach of a glob over whole URLs.
struct GlobReach {
    let url: String

    /// The host or host glob, without brackets and port; nil if the glob does not tell.
    var host: String? {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let authority = url[mark.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard authority.hasPrefix("[") else { return String(authority.prefix { $0 != ":" }) }
        return String(authority.dropFirst().prefix { $0 != "]" })
    }

    /// True if the glob covers unnamed hosts: its star stands for more than the subdomains of one domain.
    var isFar: Bool {
        guard let host else { return true }
        guard Glob.isGlob(host) else { return false }
        guard host.hasPrefix("*.") else { return true }
        let domain = host.dropFirst(2)
        return Glob.isGlob(domain) || !domain.contains(".")
    }

    /// Whether Usher may decrypt requests that the glob covers. For a glob over hosts, any intercepted host suffices.
    func isOpened(by opened: InterceptionPolicy) -> Bool {
        guard url.hasPrefix("https:") else { return true }
        guard let head, !Glob.isGlob(head.host) else { return !opened.isEmpty }
        return opened.opens(head.host, port: head.target.port)
    }

    /// The request head of the URL, if the glob is a valid URL.
    var head: RequestHead? { try? RequestHead(method: "GET", url: url) }
}
