/// The negotiated version of a REST resource.
struct ResourceVersion: Sendable {
    struct Fault: Error {
        var status: Int
        var message: String
    }

    var major: Int
    var minor: Int

    /// - Parameters:
    /// - header: `Accept-API-Version`, such as `resource=2.1, protocol=1.0`, in any order. Nil selects the newest version.
    /// - offered: the highest minor of each major; it also serves lower minors.
    static func negotiate(_ header: String?, _ offered: [Int: Int]) -> Result<ResourceVersion, Fault> {
        var agreed = ResourceVersion(major: offered.keys.max() ?? 1, minor: 0)
        agreed.minor = offered[agreed.major] ?? 0
        guard let header else { return .success(agreed) }
        for item in header.filter({ $0 != " " }).split(separator: ",") {
            let halves = item.split(separator: "=")
            let numbers = halves.count == 2 ? halves[1].split(separator: ".").map { Int($0) } : []
            guard let major = numbers.first ?? nil, numbers.count <= 2, let minor = numbers.count == 2 ? numbers[1] : 0
            else { return .failure(Fault(status: 400, message: "Accept-API-Version: cannot parse '\(header)'")) }
            switch halves[0] {
            case "resource":
                guard let highest = offered[major], minor <= highest else {
                    let text = "Accept-API-Version: Requested version \"\(halves[1])\" does not match any routes."
                    return .failure(Fault(status: 404, message: text))
                }
                agreed = ResourceVersion(major: major, minor: highest)
            case "protocol":
                guard major == 1 else {
                    return .failure(Fault(status: 404, message: "Accept-API-Version: Unsupported protocol version"))
                }
            default:
                return .failure(Fault(status: 400, message: "Accept-API-Version: cannot parse '\(header)'"))
            }
        }
        return .success(agreed)
    }
}
