/// An origin that was asked with what a journey won.
public struct JourneyResource: Sendable {
    /// The first of these requests: its scheme, host and port are those of all.
    public let flow: PackedFlow
    public private(set) var requests = 0
    /// By status, 0 for no answer, in the order in which they came; at most `mostStatuses`.
    public private(set) var statuses: [(status: Int, count: Int)] = []
    private var paths: Set<Int> = []

    private static let mostStatuses = 16
    /// Paths that are told from one another.
    public static let mostPaths = 1_000

    init(_ flow: PackedFlow) {
        self.flow = flow
        add(flow)
    }

    /// `https://shop.test:8443`
    public var origin: String {
        let url = flow.url
        guard let start = url.firstRange(of: "://") else { return url }
        return String(url[..<(url[start.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex)])
    }

    /// How many paths were asked for, queries aside; `mostPaths` stands for that and more.
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
