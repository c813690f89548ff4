/// The pipes of one loop. One is lent for a transfer, or as long as a slow receiver leaves bytes in it.
struct PipePool {
    /// Empty pipes; the last used one is used first.
    private var idle: [Pipe] = []
    private var lent = 0
    /// The number of idle pipes not used since the last trim.
    private var unused = 0

    /// The most pipes. It bounds the kernel memory in them.
    static let limit = 64

    /// Returns nil at the limit, or if there are no descriptors.
    mutating func take(_ loop: Loop) -> Pipe? {
        guard let pipe = idle.popLast() ?? (lent < Self.limit ? Pipe(loop) : nil) else { return nil }
        unused = min(unused, idle.count)
        lent += 1
        return pipe
    }

    mutating func giveBack(_ pipe: Pipe) {
        lent -= 1
        // a pipe with undelivered bytes is closed
        if pipe.count == 0 { idle.append(pipe) }
    }

    /// Closes the pipes not used since the last trim, since they hold descriptors.
    mutating func trim() {
        idle.removeFirst(unused)
        unused = idle.count
    }
}
