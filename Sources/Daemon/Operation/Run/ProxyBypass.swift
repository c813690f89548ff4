import Addresses
import Configuration
import Formats
import Interception
import ProxyCore

/// A value of NO_PROXY: the hosts that programs reach without the proxy. There is no standard, so an entry matches if any of the
/// common implementations does (curl, Go, Python, Node, Java's frameworks).
struct ProxyBypass {
    private let entries: [String]

    init(_ value: String) {
        entries = value.split { $0 == "," || $0.isWhitespace }.map { text in
            // programs compare international names in Unicode or as A-labels; either bypasses the proxy
            (try? InternationalName.ascii(host: ASCII.lowercased(text))) ?? ASCII.lowercased(text)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The entry that makes a host bypass the proxy.
    /// - Parameter host: in its normal form. A glob stands for all hosts that it matches.
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
                // `*` matches everything; that localhost bypasses the proxy does not matter
                if host == "*" { return suffix != "localhost" && IPAddress(suffix)?.isLoopback != true }
                return host == suffix || host.hasSuffix(".\(suffix)") || Glob.matches(host, String(suffix))
            }
            return host == suffix || host.hasSuffix(".\(suffix)")
        }
    }

    /// Removes the port from `host:port` and `[v6]:port`.
    private static func withoutPort(_ entry: String) -> String {
        if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
            return String(entry[entry.index(after: entry.startIndex)..<end])
        }
        guard let colon = entry.firstIndex(of: ":"), entry.lastIndex(of: ":") == colon else { return entry }
        return String(entry[..<colon])
    }
}
