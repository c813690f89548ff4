import EventLoop

/// The questions of a script in the order of their deadlines, which are all equally far.
final class ScriptDeadlines {
    /// Some of them are answered.
    private var due: [(id: Int, at: Int)] = []
    /// The length at which the answered ones are removed.
    private var most = 1_024
    private var alarm: Alarm?
    private var isSet = false
    private let loop: Loop
    private let timeout: Int
    private let isOpen: (Int) -> Bool
    private let expire: (Int) -> Void

    /// - Parameters:
    ///   - timeout: in milliseconds.
    ///   - isOpen: whether a question has no answer.
    ///   - expire: called at the deadline of an open question.
    init(_ loop: Loop, timeout: Int, isOpen: @escaping (Int) -> Bool, expire: @escaping (Int) -> Void) {
        self.loop = loop
        self.timeout = timeout
        self.isOpen = isOpen
        self.expire = expire
        alarm = try? Alarm(loop: loop) { [unowned self] in rang() }
    }

    func add(_ id: Int) {
        due.append((id, loop.now + timeout))
        if due.count > most {
            due.removeAll { !isOpen($0.id) }
            most = max(most, 2 * due.count)
        }
        set()
    }

    private func set() {
        guard !isSet, let first = due.first else { return }
        isSet = alarm?.set(milliseconds: first.at - loop.now) ?? false
    }

    private func rang() {
        isSet = false
        var passed = 0
        // one that expires may add a ping
        while passed < due.count, due[passed].at <= loop.now || !isOpen(due[passed].id) {
            if isOpen(due[passed].id) { expire(due[passed].id) }
            passed += 1
        }
        due.removeFirst(passed)
        set()
    }

    func end() {
        alarm?.cancel()
        alarm = nil
    }
}
