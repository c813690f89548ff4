import EventLoop
import Glibc
import Scripts

/// One process of a script, or one connection to a script that runs by itself.
final class ScriptWorker {
    private unowned let pool: ScriptPool
    let number: Int
    private(set) var life: WorkerLife
    private var alarm: Alarm?
    private var channel: ScriptChannel?
    private var process: ScriptProcess?
    private var output: ScriptOutput?
    /// For large bodies; nil if it takes them in frames.
    private var folder: ScriptFolder?
    /// The questions that wait for it.
    var count = 0
    var counts = ScriptFigures.Counts()
    /// When it last sent a frame, in monotonic milliseconds.
    private(set) var heard = 0
    /// Whether it may hang: a ping was sent, and nothing came since.
    var isPinged = false
    var load: (Int, Int) { (isPinged ? 1 : 0, count) }
    /// Why it ended last.
    private(set) var fault: String? { didSet { lastWords = "" } }
    /// The last line that it wrote then, which may be about anybody's exchange.
    private var lastWords = ""
    /// Why it ended last, for the operator.
    var told: String? { fault.map { "\($0)\(lastWords)" } }

    fileprivate static let closed = "its connection ended"
    /// The most bytes that wait for a script to read them.
    private static let mostQueued = 64 << 20
    /// The interval for looking after a process that has to end, in milliseconds.
    private static let look = 10

    init(_ pool: ScriptPool, _ number: Int) {
        self.pool = pool
        self.number = number
        life = WorkerLife(longestRest: pool.terms.restart, now: pool.loop.refreshNow())
        alarm = try? Alarm(loop: pool.loop) { [unowned self] in rang() }
    }

    var isReady: Bool { life.stage == .ready }
    var isLeaving: Bool { life.stage == .leaving || life.stage == .gone }
    var id: pid_t? { process?.id }
    private var name: String { "script \(pool.name): worker \(number)\(id.map { " (pid \($0))" } ?? "")" }

    // MARK: start

    func start() {
        do throws(ScriptProcess.Fault) {
            let connection: Int32
            switch pool.terms.origin {
            case .run(let command):
                let started = try ScriptProcess.start(pool.terms, command)
                process = started.process
                connection = started.connection
                folder = started.folder
                output = try? ScriptOutput(loop: pool.loop, started.output) { [unowned self] in
                    pool.say("script \(pool.name)[\(number)]: \($0)")
                }
            case .connect(let path): connection = try Self.connect(path)
            }
            do throws(SystemError) {
                channel = try ScriptChannel(self, pool.loop, connection, limit: pool.terms.frame)
            } catch {
                throw ScriptProcess.Fault(words: "cannot be connected: \(error.description)")
            }
            channel?.startReading()
            arm()
        } catch {
            fault = error.words
            pool.tell("script \(pool.name): \(error.words)")
            happened(.exited)
        }
    }

    private static func connect(_ path: String) throws(ScriptProcess.Fault) -> Int32 {
        do throws(SystemError) {
            return try LocalSocket.connect(to: path).release()
        } catch {
            throw ScriptProcess.Fault(words: "does not listen on \(path): \(error.description)")
        }
    }

    // MARK: questions

    /// - Returns: false if it takes no more.
    func ask(_ question: ScriptQuestion, _ id: Int) -> Bool {
        guard let channel, channel.waiting < Self.mostQueued else { return false }
        var file: String?
        if let folder, let body = question.body, body.count > pool.terms.fileAbove { file = folder.write(body, id) }
        channel.send(question.frame(id: id, file: file))
        return true
    }

    func ping(_ id: Int) { channel?.send(ScriptQuestion.ping(id: id)) }

    /// The body of an answer that is in a file.
    func file(_ id: Int) throws(FrameFault) -> [UInt8] {
        guard let folder else { throw FrameFault(words: "it has no folder for files") }
        defer { folder.forget(id) }
        return try folder.read(id, limit: pool.terms.frame)
    }

    /// A question is over.
    func forget(_ id: Int, isLate: Bool = false) {
        if let folder, isLate || folder.has(id) { folder.forget(id) }
    }

    fileprivate func came(_ text: ArraySlice<UInt8>) {
        heard = pool.loop.now
        do throws(FrameFault) {
            guard life.stage == .starting else {
                return try pool.came(ScriptReply(text), from: self)
            }
            let hello = try ScriptHello(text)
            if let lack = hello.lack(in: pool.terms) { throw FrameFault(words: lack) }
            pool.hello(hello)
            if !hello.files { folder = nil }
            happened(.hello)
        } catch {
            broke(error.words)
        }
    }

    /// It does not answer at all.
    func hangs() {
        broke("it hangs")
        process?.signal(SIGKILL)
    }

    // MARK: life

    /// Its connection ended, or what it sends cannot be read.
    func broke(_ words: String) {
        guard life.stage == .starting || life.stage == .ready else { return disconnect() }
        output?.take()
        fault = words
        disconnect()
        // one that has not begun has nothing to finish
        if life.stage == .starting, words != Self.closed { process?.signal(SIGTERM) }
        happened(.broke)
        pool.lost(self, "ended: \(words)")
        look()
    }

    private var lastLine: String { output?.last.map { "; its last line: \($0)" } ?? "" }

    private func disconnect() {
        channel?.close()
        channel = nil
    }

    func dismiss() { happened(.dismissed) }
    func wake() { happened(.wanted) }

    private func happened(_ event: WorkerLife.Event) {
        let before = life.stage
        let deed = life.take(event, now: pool.loop.refreshNow())
        switch deed {
        case .none: break
        case .start: start()
        case .kill:
            if before == .starting { fault = "said no hello within \(WorkerLife.helloLimit / 1000) s" }
            process?.signal(SIGKILL)
            disconnect()
        case .leave:
            disconnect()
            process?.signal(SIGTERM)
            look()
        }
        arm()
        pool.changed(self)
    }

    private var isEnding: Bool { life.stage == .ending || life.stage == .leaving }

    private func arm() {
        guard let deadline = life.deadline else { return }
        let wait = max(0, deadline - pool.loop.now)
        _ = alarm?.set(milliseconds: isEnding ? min(wait, Self.look) : wait)
    }

    private func rang() {
        if isEnding, look() { return }
        guard let deadline = life.deadline, pool.loop.now >= deadline else { return arm() }
        happened(.elapsed)
    }

    /// Looks whether the process has ended.
    @discardableResult
    private func look() -> Bool {
        guard isEnding else { return true }
        var words = fault ?? Self.closed
        if let process {
            guard let status = process.ended() else { return false }
            words = words == Self.closed ? status : "\(words); \(status)"
        }
        output?.close()
        fault = words
        lastWords = lastLine
        let told = "\(name) ended: \(words)\(lastLine)"
        let wasNeeded = life.stage == .ending
        output = nil
        process = nil
        folder = nil
        happened(.exited)
        if wasNeeded { pool.tell("\(told); it starts again in \(life.rest) ms") }
        return true
    }

    func end() {
        alarm?.cancel()
        alarm = nil
    }

    /// Tells the process to end, as the daemon ends.
    func leave() {
        disconnect()
        process?.signal(SIGTERM)
    }

    /// Waits for the end of the process, and forces it.
    /// - Parameter deadline: in monotonic milliseconds.
    func cut(by deadline: Int) {
        while let process, process.ended() == nil {
            if pool.loop.refreshNow() >= deadline { process.signal(SIGKILL) }
            usleep(1000)
        }
        process = nil
        folder = nil
        output?.close()
        output = nil
        end()
    }
}

/// The connection to a worker.
private final class ScriptChannel: Channel {
    private unowned let worker: ScriptWorker
    private var reader: FrameReader
    /// The frames of this turn, which go out together.
    private var frames: [UInt8] = []

    init(_ worker: ScriptWorker, _ loop: Loop, _ descriptor: Int32, limit: Int) throws(SystemError) {
        self.worker = worker
        reader = FrameReader(limit: limit)
        try super.init(loop: loop, descriptor: Descriptor(owning: descriptor))
    }

    /// The bytes that the script has not taken.
    var waiting: Int { queuedBytes + frames.count }

    func send(_ frame: [UInt8]) {
        if frames.isEmpty { loop.tellAtEnd(self) }
        frames += frame
    }

    override func turnEnds() {
        let isSent = isClosed || frames.withUnsafeBytes { write($0) }
        frames.removeAll(keepingCapacity: frames.count <= Self.mostKept)
        if !isSent { worker.broke(ScriptWorker.closed) }
    }

    private static let mostKept = 64 << 10

    override func readable() {
        switch read() {
        case .bytes(let count):
            loop.refreshNow()
            reader.append(loop.received(0..<count))
            do throws(FrameFault) {
                while !isClosed, let text = try reader.next() { worker.came(text) }
            } catch {
                worker.broke(error.words)
            }
        case .wouldBlock: break
        case .end, .failed: worker.broke(ScriptWorker.closed)
        }
    }

    override func writeFailed(_ error: SystemError) { worker.broke(ScriptWorker.closed) }
    override func readingRefused() { worker.broke("its connection cannot be watched") }
}
