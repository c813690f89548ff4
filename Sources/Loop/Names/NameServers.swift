internal import EventLoop

/// The current name servers. A change of the settings or their file replaces them; replaced ones end with their last
/// question.
final class CurrentServers {
    private let loop: Loop
    private var settings: NameService.Settings
    private let answered: NameServers.Answered
    private var servers: NameServers?
    /// Replaced servers with questions in progress.
    private var retiring: [NameServers] = []
    private var stamp: FileStamp?
    /// The time of the next look at the file.
    private var nextLook = Int.min

    /// The interval between two looks at the file, in milliseconds.
    private static let lookInterval = 1_000

    init(
        loop: Loop, _ settings: NameService.Settings, _ answered: @escaping NameServers.Answered
    ) throws(SystemError) {
        self.loop = loop
        self.settings = settings
        self.answered = answered
        stamp = FileStamp(settings.file)
        servers = try make()
    }

    private func make() throws(SystemError) -> NameServers {
        try NameServers(loop: loop, settings) { [unowned self] in took($0, $1, $2, $3) }
    }

    private func took(
        _ servers: NameServers, _ source: NameServers.Source, _ question: NameQuestion, _ outcome: NameOutcome
    ) {
        answered(servers, source, question, outcome)
        guard let index = retiring.firstIndex(where: { $0 === servers && $0.isIdle }) else { return }
        loop.deferRelease(retiring.remove(at: index))
    }

    func ask(_ question: NameQuestion) { servers?.ask(question, .servers) }

    func goOn() {
        servers?.goOn()
        for one in retiring { one.goOn() }
    }

    /// - Returns: true if the servers changed.
    func adopt(_ settings: NameService.Settings) -> Bool {
        guard settings != self.settings else { return false }
        self.settings = settings
        return renew()
    }

    /// Checks the file for changes, which c-ares does not do.
    /// - Returns: true if the servers changed.
    func look() -> Bool {
        guard loop.now >= nextLook else { return false }
        nextLook = loop.now + Self.lookInterval
        return FileStamp(settings.file) != stamp && renew()
    }

    private func renew() -> Bool {
        let seen = FileStamp(settings.file)
        // without memory the old ones stay, and the next look tries again
        guard let fresh = try? make() else { return false }
        stamp = seen
        if let servers {
            // it may be on the call stack
            if servers.isIdle { loop.deferRelease(servers) } else { retiring.append(servers) }
        }
        servers = fresh
        return true
    }
}

/// The channels for one set of settings.
final class NameServers {
    typealias Source = NameChannel.Options.Source
    typealias Answered = (NameServers, Source, NameQuestion, NameOutcome) -> Void

    private var servers: NameChannel?
    private var anyServer: NameChannel?
    /// Whether there is more than one server.
    let hasOthers: Bool

    init(
        loop: Loop, _ settings: NameService.Settings, _ answered: @escaping Answered
    ) throws(SystemError) {
        func options(_ source: Source, _ timeout: Int) -> NameChannel.Options {
            NameChannel.Options(
                source: source, file: settings.file, servers: settings.servers, timeout: timeout)
        }
        let count = try NameChannel(loop: loop, options(.servers, settings.timeout)) { _, _ in }.serverCount
        hasOthers = count > 1
        // each server is asked, then again with twice the timeout; the sum must fit the whole timeout
        let timeout = max(50, settings.timeout / (3 * count))
        servers = try NameChannel(loop: loop, options(.servers, timeout)) { [unowned self] in
            answered(self, .servers, $0, $1)
        }
        anyServer = try NameChannel(loop: loop, options(.anyServer, timeout)) { [unowned self] in
            answered(self, .anyServer, $0, $1)
        }
    }

    private var all: [NameChannel] { [servers, anyServer].compactMap(\.self) }

    var isIdle: Bool { all.allSatisfy { $0.underWay == 0 } }

    func goOn() { for channel in all { channel.arm() } }

    func ask(_ question: NameQuestion, _ source: Source) {
        switch source {
        case .servers: servers?.ask(question)
        case .anyServer: anyServer?.ask(question)
        }
    }
}
