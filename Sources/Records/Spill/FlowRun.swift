internal import Journal

/// A run of the daemon. Each run counts its flows anew. Ids of an earlier run carry its number in their uppermost bits; ids
/// of this run carry none.
struct FlowRun {
    /// Counts from 1 and wraps around behind the last number.
    let number: Int

    static let last = 0xFFFF
    private static let shift = 48

    /// The run behind that number.
    static func behind(_ number: Int) -> FlowRun { FlowRun(number: number >= 1 && number < last ? number + 1 : 1) }

    /// Converts a requested id to the stored one.
    func stored(_ id: Int) -> (id: Int, run: Int) {
        let run = Int(truncatingIfNeeded: UInt64(bitPattern: Int64(id)) >> Self.shift)
        return (id & ((1 << Self.shift) - 1), run == 0 ? number : run)
    }

    /// Converts a stored id to the one that is shown.
    func shown(_ id: Int, of run: Int) -> Int { run == number || id == 0 ? id : id | run << Self.shift }

    func shown(_ flow: PackedFlow, of run: Int) -> PackedFlow {
        guard run != number else { return flow }
        return flow.renamed(id: shown(flow[.id], of: run), parent: shown(flow[.parent], of: run))
    }
}
