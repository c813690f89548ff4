internal import Formats
internal import Interception

/// The parameters that the query of a glob demands, each `NAME=VALUE` with stars, or a name for any value. A query meets it
/// in whatever order and spelling it has them, and whatever else it has: what servers may read as a parameter counts.
struct QueryDemand: Sendable {
    private let globs: [[UInt8]]

    init(_ query: some Collection<UInt8>) {
        globs = query.split(separator: 0x26).map { pair in
            let glob = PercentCoding.decodeBytes(pair, plusAsSpace: true)
            return pair.contains(0x3D) ? glob : glob + [0x3D, 0x2A]
        }
    }

    func isMet(by query: [UInt8]) -> Bool {
        guard !globs.isEmpty else { return true }
        // some servers part parameters at a semicolon, and some decode twice
        let parts = query.split(separator: 0x26) + query.split { $0 == 0x26 || $0 == 0x3B }
        let pairs = parts.flatMap { part in
            let whole = Array(part) + (part.contains(0x3D) ? [] : [0x3D])
            let once = PercentCoding.decodeBytes(whole, plusAsSpace: true)
            return [once, PercentCoding.decodeBytes(once, plusAsSpace: false)]
        }
        return globs.allSatisfy { glob in pairs.contains { Glob.matches(glob, $0, ignoringCase: true) } }
    }
}
