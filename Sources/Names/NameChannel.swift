internal import CAres
import EventLoop
internal import Glibc

/// One channel of c-ares on a loop: asks, and tells what came of it. Answers never come from inside the call that asks, and
/// each question ends exactly once, unless the channel ends before.
final class NameChannel {
    struct Options {
        enum Source {
            /// Name servers; the first one's word counts, also that it does not answer.
            case servers
            /// Name servers; the next one is asked when one does not answer.
            case anyServer
        }

        let source: Source
        /// A file in the form of `resolv.conf(5)`: servers, the search list and its options.
        let file: String
        /// `address:port`, in place of the file's servers; none for those.
        let servers: [String]
        /// Milliseconds until a question is put again; twice as much the second time, which is the last.
        let timeout: Int
    }

    private let channel: OpaquePointer
    private let sockets: NameSockets
    private let answered: (NameQuestion, NameOutcome) -> Void
    private let loop: Loop
    private var alarm: Alarm?
    /// When the alarm rings.
    private var due = Int.max
    private var arrived: [(NameQuestion, NameOutcome)] = []
    /// Questions without an answer yet.
    private(set) var underWay = 0

    /// How often a question is put to each server.
    static let tries = 2
    /// How often c-ares looks whether a server has had its time, in milliseconds.
    private static let tick = 100

    init(
        loop: Loop, _ options: Options, _ answered: @escaping (NameQuestion, NameOutcome) -> Void
    ) throws(SystemError) {
        guard Self.isLibraryReady else { throw SystemError("ares_library_init", code: ENOSYS) }
        self.loop = loop
        self.answered = answered
        sockets = NameSockets(loop: loop)
        channel = try Self.open(options, sockets)
        sockets.channel = self
        alarm = try Alarm(loop: loop) { [unowned self] in
            due = .max
            sockets.retry()
            process(readable: -1, writable: -1)
        }
    }

    deinit {
        // what c-ares closes now is watched no more, and nobody is there to hear how the questions end
        sockets.forget()
        ares_destroy(channel)
    }

    private static let isLibraryReady = ares_library_init(Int32(ARES_LIB_INIT_ALL)) == Int32(ARES_SUCCESS.rawValue)

    /// c-ares' version, `1.18.1`.
    static var libraryVersion: String { ares_version(nil).map { String(cString: $0) } ?? "" }

    private static func open(_ options: Options, _ sockets: NameSockets) throws(SystemError) -> OpaquePointer {
        var flags = ARES_FLAG_NOALIASES.rawValue
        if case .servers = options.source { flags |= ARES_FLAG_NOCHECKRESP.rawValue }
        var settings = ares_options()
        settings.flags = Int32(flags)
        settings.timeout = Int32(clamping: options.timeout)
        settings.tries = Int32(tries)
        settings.sock_state_cb = nameSocketTrampoline
        settings.sock_state_cb_data = Unmanaged.passUnretained(sockets).toOpaque()
        let mask =
            ARES_OPT_FLAGS.rawValue | ARES_OPT_TIMEOUTMS.rawValue | ARES_OPT_TRIES.rawValue
            | ARES_OPT_LOOKUPS.rawValue | ARES_OPT_SOCK_STATE_CB.rawValue | ARES_OPT_RESOLVCONF.rawValue
        var made: OpaquePointer?
        // name servers alone; c-ares makes copies of both
        guard let lookups = strdup("b"), let file = strdup(options.file) else {
            throw SystemError("strdup")
        }
        defer {
            free(lookups)
            free(file)
        }
        settings.lookups = lookups
        settings.resolvconf_path = file
        try check(ares_init_options(&made, &settings, Int32(mask)), "ares_init_options")
        guard let made else { throw SystemError("ares_init_options", code: ENOMEM) }
        guard !options.servers.isEmpty else { return made }
        let status = ares_set_servers_ports_csv(made, options.servers.joined(separator: ","))
        if status != Int32(ARES_SUCCESS.rawValue) { ares_destroy(made) }
        try check(status, "ares_set_servers_ports_csv")
        return made
    }

    private static func check(_ status: Int32, _ call: String) throws(SystemError) {
        guard status != Int32(ARES_SUCCESS.rawValue) else { return }
        throw SystemError(call, code: status == Int32(ARES_ENOMEM.rawValue) ? ENOMEM : EINVAL)
    }

    /// Servers that are asked, at least one.
    var serverCount: Int {
        var list: UnsafeMutablePointer<ares_addr_port_node>?
        guard ares_get_servers_ports(channel, &list) == Int32(ARES_SUCCESS.rawValue) else { return 1 }
        defer { ares_free_data(list) }
        var count = 0
        var node = list
        while let one = node {
            count += 1
            node = one.pointee.next
        }
        return max(1, count)
    }

    func ask(_ question: NameQuestion) {
        var hints = ares_addrinfo_hints()
        hints.ai_flags = Int32(ARES_AI_NOSORT)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        switch question.family {
        case .v4: hints.ai_family = AF_INET
        case .v6: hints.ai_family = AF_INET6
        }
        underWay += 1
        let ticket = Unmanaged.passRetained(Ticket(self, question)).toOpaque()
        ares_getaddrinfo(channel, question.host, nil, &hints, nameAnswerTrampoline, ticket)
        arm()
    }

    func process(readable: Int32, writable: Int32) {
        ares_process_fd(channel, readable, writable)
        let batch = arrived
        arrived = []
        for (question, outcome) in batch {
            // one by one: whoever counts those under way must not take the last ones of the batch for told
            underWay -= 1
            answered(question, outcome)
        }
        arm()
    }

    /// Sees to it that the answers that have come are told, and that a server has only so much time.
    func arm() {
        guard underWay > 0 else { return }
        let next = loop.now + (arrived.isEmpty ? Self.tick : 0)
        // without memory for a timer the next call does it, or the next event of any socket
        if next < due, alarm?.set(milliseconds: next - loop.now) == true { due = next }
    }

    /// A question that c-ares holds.
    final class Ticket {
        // a channel that has gone is not told: see `ended`
        private unowned let channel: NameChannel
        private let question: NameQuestion

        init(_ channel: NameChannel, _ question: NameQuestion) {
            self.channel = channel
            self.question = question
        }

        /// - Parameter found: c-ares' list; only for the length of this call.
        func ended(_ status: Int32, _ found: UnsafeMutablePointer<ares_addrinfo>?) {
            if status == Int32(ARES_EDESTRUCTION.rawValue) { return }
            channel.arrived.append((question, NameOutcome(status, found, question.family)))
        }
    }
}

extension NameOutcome {
    fileprivate init(
        _ status: Int32, _ found: UnsafeMutablePointer<ares_addrinfo>?, _ family: NameQuestion.Family
    ) {
        switch UInt32(bitPattern: status) {
        case ARES_SUCCESS.rawValue: self = found.map { NameOutcome(list: $0.pointee, family) } ?? .empty
        case ARES_ENODATA.rawValue: self = .empty
        case ARES_ENOTFOUND.rawValue: self = .missing
        case ARES_ESERVFAIL.rawValue: self = .refused("the name server failed", rcode: "SERVFAIL")
        case ARES_EREFUSED.rawValue: self = .refused("the name server refused to answer", rcode: "REFUSED")
        case ARES_ENOTIMP.rawValue: self = .refused("the name server does not know the question", rcode: "NOTIMP")
        case ARES_EFORMERR.rawValue:
            self = .refused("the name server does not understand the question", rcode: "FORMERR")
        case ARES_ETIMEOUT.rawValue: self = .timedOut
        case ARES_ECONNREFUSED.rawValue: self = .failed("no name server could be asked")
        case ARES_EBADNAME.rawValue: self = .failed("it is no valid name")
        case ARES_EBADRESP.rawValue: self = .failed("the name server's answer is malformed")
        default: self = .failed(ares_strerror(status).map { String(cString: $0) } ?? "the name service failed")
        }
    }

    /// The smallest time to live among the records used counts, aliases included.
    private init(list: ares_addrinfo, _ family: NameQuestion.Family) {
        var life = Int.max
        var alias = list.cnames
        while let one = alias {
            life = min(life, Self.seconds(one.pointee.ttl))
            alias = one.pointee.next
        }
        var addresses: [SocketAddress] = []
        var node = list.nodes
        while let one = node {
            life = min(life, Self.seconds(one.pointee.ai_ttl))
            if let pointer = one.pointee.ai_addr,
                let address = SocketAddress(pointer.assumingMemoryBound(to: sockaddr.self)),
                // c-ares takes the other family's records, too
                address.isIPv6 == (family == .v6), !addresses.contains(address)
            {
                addresses.append(address)
            }
            node = one.pointee.ai_next
        }
        let name = list.name.map { String(cString: $0) } ?? ""
        self = addresses.isEmpty ? .empty : .found(addresses, name: name.lowercased(), timeToLive: life)
    }

    /// RFC 2181 §8: a time with its highest bit set is zero.
    private static func seconds(_ time: Int32) -> Int { max(0, Int(time)) }
}

/// The sockets that c-ares has open, each watched as it wishes.
final class NameSockets {
    private let loop: Loop
    private var table: [Int32: NameSocket] = [:]
    unowned var channel: NameChannel?

    init(loop: Loop) { self.loop = loop }

    /// c-ares wants to know of this from now on; of nothing where it is about to close the socket.
    func changed(_ descriptor: Int32, reads: Bool, writes: Bool) {
        if !reads, !writes {
            table.removeValue(forKey: descriptor)?.close()
        } else {
            let socket = table[descriptor] ?? NameSocket(loop: loop, descriptor, of: self)
            table[descriptor] = socket
            socket.watch(reads: reads, writes: writes)
        }
    }

    /// Watches what the kernel refused to watch before.
    func retry() { for socket in table.values { socket.watch() } }

    func ready(_ descriptor: Int32, _ events: Int16) {
        channel?.process(
            readable: events & EventSource.Flag.read != 0 ? descriptor : -1,
            writable: events & EventSource.Flag.write != 0 ? descriptor : -1)
    }

    func forget() {
        channel = nil
        table = [:]
    }
}

private final class NameSocket: EventSource {
    private let descriptor: Int32
    private unowned let sockets: NameSockets
    private var reads = false
    private var writes = false
    private var reading: EventHandle?
    private var writing: EventHandle?

    init(loop: Loop, _ descriptor: Int32, of sockets: NameSockets) {
        self.descriptor = descriptor
        self.sockets = sockets
        super.init(loop: loop)
    }

    func watch(reads: Bool, writes: Bool) {
        self.reads = reads
        self.writes = writes
        watch()
    }

    /// Where memory is wanting, c-ares waits in vain, and the next try to watch is the channel's.
    func watch() {
        if reads, reading == nil { reading = made(Flag.read) }
        if writes, writing == nil { writing = made(Flag.write) }
        if reads { _ = reading?.add() } else { reading?.remove() }
        if writes { _ = writing?.add() } else { writing?.remove() }
    }

    private func made(_ flag: Int16) -> EventHandle? {
        try? EventHandle.pointing(at: self, loop, descriptor, flag | Flag.persist)
    }

    override func ready(_ events: Int16) {
        loop.refreshNow()
        sockets.ready(descriptor, events)
    }

    func close() {
        watch(reads: false, writes: false)
        loop.deferRelease(self)
    }
}

// c-ares calls these two.

private func nameSocketTrampoline(
    _ context: UnsafeMutableRawPointer?, _ descriptor: Int32, _ reads: Int32, _ writes: Int32
) {
    guard let context else { return }
    Unmanaged<NameSockets>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.changed(descriptor, reads: reads != 0, writes: writes != 0)
    }
}

private func nameAnswerTrampoline(
    _ context: UnsafeMutableRawPointer?, _ status: Int32, _ timeouts: Int32,
    _ found: UnsafeMutablePointer<ares_addrinfo>?
) {
    if let context {
        Unmanaged<NameChannel.Ticket>.fromOpaque(context).takeRetainedValue().ended(status, found)
    }
    if let found { ares_freeaddrinfo(found) }
}
