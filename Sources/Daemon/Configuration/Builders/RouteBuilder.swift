internal import Addresses
internal import Declaration
internal import Interception
internal import ProxyCore

/// Builds the route table from `destinations.via`.
struct RouteBuilder {
    let findings: Findings

    func table(_ items: [Decoded]) -> RouteTable {
        var places: [(host: String, place: Position)] = []
        var table = RouteTable()
        for item in items {
            guard let fields = item.fields else { continue }
            if let written = fields["host"], written.isEmptyList {
                findings.error(written.position, "host takes at least one host or host glob")
            }
            var hosts: [String] = []
            for host in fields.list("host") {
                guard let text = host.text else { continue }
                let name = HostName.normalized(text)
                // a glob that matches another glob's text matches everything the other does
                if let earlier = places.first(where: { Glob.matches($0.host, name) }) {
                    let place = findings.place(earlier.place, from: host.position)
                    findings.warning(
                        host.position,
                        "\"\(host.written)\" is never reached: \"\(earlier.host)\" of \(place) comes first")
                }
                places.append((name, host.position))
                hosts.append(name)
            }
            guard let text = fields.text("proxy") else { continue }
            table.entries.append(
                RouteTable.Entry(hosts: hosts, proxy: text == TextFormat.direct ? nil : UpstreamProxy(text)))
        }
        return table
    }
}
