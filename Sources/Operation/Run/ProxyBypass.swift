import Addresses
import Configuration
import Formats
import HTTPCodec
import Interception
import ProxyCore

/// A value of NO_PROXY: which hosts programs go to past the proxy. Nobody ever wrote down what may stand in it, so an entry
/// counts as soon as any of the common readings (curl, Go, Python, Node, Java's frameworks) takes it for the host.
struct ProxyBypass {
    private let entries: [String]

    init(_ value: String) {
        entries = value.split { $0 == "," || $0.isWhitespace }.map { text in
            // whoever takes it in Unicode compares it so or by its A-labels: either lets the host past
            (try? InternationalName.ascii(host: ASCII.lowercased(text))) ?? ASCII.lowercased(text)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The entry that lets a host past the proxy.
    /// - Parameter host: in its normal form; a glob stands for every host that it fits.
    func entry(for host: String) -> String? {
        let address = IPAddress(host)
        return entries.first { entry in
            if entry == "*" { return true }
            let name = HostName.normalized(Self.withoutPort(entry))
            if let address, let block = AddressBlock(name) { return block.contains(address) }
            var suffix = name[...]
            if suffix.hasPrefix("*.") {
                suffix = suffix.dropFirst(2)
            } else if suffix.hasPrefix(".") {
                suffix.removeFirst()
            }
            guard !suffix.isEmpty else { return false }
            if Glob.isGlob(host) {
                // `*` alone fits everything, and that localhost goes by another way concerns nobody
                if host == "*" { return suffix != "localhost" && IPAddress(suffix)?.isLoopback != true }
                return host == suffix || host.hasSuffix(".\(suffix)") || Glob.matches(host, String(suffix))
            }
            return host == suffix || host.hasSuffix(".\(suffix)")
        }
    }

    /// `host:port` and `[v6]:port` as the host alone.
    private static func withoutPort(_ entry: String) -> String {
        if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
            return String(entry[entry.index(after: entry.startIndex)..<end])
        }
        guard let colon = entry.firstIndex(of: ":"), entry.lastIndex(of: ":") == colon else { return entry }
        return String(entry[..<colon])
    }
}
