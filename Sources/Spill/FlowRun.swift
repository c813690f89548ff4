internal import Journal

/// One run of the daemon after another, each of which begins anew with the ids of its flows: those of an earlier one are known by
/// that one's number in the uppermost of their bits, and those of this one by nothing.
struct FlowRun {
    /// From 1 on; behind the last it begins anew.
    let number: Int

    static let last = 0xFFFF
    private static let shift = 48

    /// The one behind that.
    static func behind(_ number: Int) -> FlowRun { FlowRun(number: number >= 1 && number < last ? number + 1 : 1) }

    /// An id as it is asked for, as it lies there.
    func stored(_ id: Int) -> (id: Int, run: Int) {
        let run = Int(truncatingIfNeeded: UInt64(bitPattern: Int64(id)) >> Self.shift)
        return (id & ((1 << Self.shift) - 1), run == 0 ? number : run)
    }

    /// An id as it lies there, as it is shown.
    func shown(_ id: Int, of run: Int) -> Int { run == number || id == 0 ? id : id | run << Self.shift }

    func shown(_ flow: PackedFlow, of run: Int) -> PackedFlow {
        guard run != number else { return flow }
        return flow.renamed(id: shown(flow[.id], of: run), parent: shown(flow[.parent], of: run))
    }
}
