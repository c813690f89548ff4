internal import Formats
internal import Interception

/// The parameters that a URL glob's query requires, each `NAME=VALUE` with stars, or a name for any value. Order, spelling and
/// additional parameters do not matter. Every reading of a parameter counts.
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
        let parameters = ReadParameter.pairs(of: query).map { ReadParameter($0) }
        return globs.allSatisfy { glob in parameters.contains { Self.fits($0, glob) } }
    }

    private static func fits(_ parameter: ReadParameter, _ glob: [UInt8]) -> Bool {
        parameter.names.contains { name in
            parameter.values.contains { Glob.matches(glob, name + [0x3D] + $0, ignoringCase: true) }
        }
    }
}
