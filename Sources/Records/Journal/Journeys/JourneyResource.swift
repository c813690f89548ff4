/// An origin that received requests with a journey's tokens.
public struct JourneyResource: Sendable {
    /// The first of these requests. All have its scheme, host and port.
    public let flow: PackedFlow
    public private(set) var requests = 0
    /// Counts by status, 0 for no response, in the order of their first occurrence; at most `mostStatuses`.
    public private(set) var statuses: [(status: Int, count: Int)] = []
    private var paths: Set<Int> = []

    private static let mostStatuses = 16
    /// The limit of paths that are counted.
    public static let mostPaths = 1_000

    init(_ flow: PackedFlow) {
        self.flow = flow
        add(flow)
    }

    /// Such as `https://shop.test:8443`.
    public var origin: String {
        let url = flow.url
        guard let start = url.firstRange(of: "://") else { return url }
        return String(url[..<(url[start.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex)])
    }

    /// The count of different paths without queries; `mostPaths` means that many or more.
    public var pathCount: Int { paths.count }

    func isOf(_ other: PackedFlow) -> Bool {
        flow[.port] == other[.port] && flow[.scheme] == other[.scheme] && flow[.authority] == other[.authority]
    }

    mutating func add(_ flow: PackedFlow) {
        requests += 1
        let status = flow[.status]
        if let index = statuses.firstIndex(where: { $0.status == status }) {
            statuses[index].count += 1
        } else if statuses.count < Self.mostStatuses {
            statuses.append((status, 1))
        }
        guard paths.count < Self.mostPaths else { return }
        var hasher = Hasher()
        flow[.target].prefix { $0 != 0x3F }.withUnsafeBytes { hasher.combine(bytes: $0) }
        paths.insert(hasher.finalize())
    }
}
