/// The pipes of one loop: lent for a transfer, or for as long as a slow receiver leaves bytes in one.
struct PipePool {
    /// Empty ones; the one used last is used first.
    private var idle: [Pipe] = []
    private var lent = 0
    /// Of the idle ones, how many nobody wanted since the pool was trimmed.
    private var unused = 0

    /// In all. Bytes in a pipe are the kernel's memory, so that these bound it.
    static let limit = 64

    /// Nil where there are enough, or no descriptors for another one.
    mutating func take(_ loop: Loop) -> Pipe? {
        guard let pipe = idle.popLast() ?? (lent < Self.limit ? Pipe(loop) : nil) else { return nil }
        unused = min(unused, idle.count)
        lent += 1
        return pipe
    }

    mutating func giveBack(_ pipe: Pipe) {
        lent -= 1
        // what nobody is left to take goes with it
        if pipe.count == 0 { idle.append(pipe) }
    }

    /// Closes those that nobody has wanted since this was asked last: they hold descriptors.
    mutating func trim() {
        idle.removeFirst(unused)
        unused = idle.count
    }
}
