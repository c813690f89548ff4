internal import CAres
import EventLoop
internal import Glibc

/// One c-ares channel on a loop. It asks questions and reports the outcomes. Outcomes never arrive from inside `ask`, and
/// each question ends exactly once unless the channel is destroyed before.
final class NameChannel {
    struct Options {
        enum Source {
            /// Uses name servers. The first one decides, also if it refuses to answer.
            case servers
            /// Uses name servers, and asks the next one if one refuses to answer.
            case anyServer
        }

        let source: Source
        /// A file in the format of resolv.conf(5): servers, search list and options.
        let file: String
        /// Servers as `address:port` that replace the file's; empty for those of the file.
        let servers: [String]
        /// Milliseconds until a question is repeated. The second and last try takes twice as long.
        let timeout: Int
    }

    private let channel: OpaquePointer
    private let sockets: NameSockets
    private let answered: (NameQuestion, NameOutcome) -> Void
    private let loop: Loop
    private var alarm: Alarm?
    /// The time at which the alarm fires.
    private var due = Int.max
    private var arrived: [(NameQuestion, NameOutcome)] = []
    /// The number of questions without an answer.
    private(set) var underWay = 0

    /// How often each server is asked.
    static let tries = 2
    /// The interval at which c-ares checks timeouts, in milliseconds.
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
        // c-ares closes its sockets now; they are no longer watched, and outcomes go nowhere
        sockets.forget()
        ares_destroy(channel)
    }

    private static let isLibraryReady = ares_library_init(Int32(ARES_LIB_INIT_ALL)) == Int32(ARES_SUCCESS.rawValue)

    /// The version of c-ares, such as `1.18.1`.
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
        // "b" means name servers alone; c-ares copies both texts
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

    /// The number of servers, at least one.
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
            // one by one, so that a caller that checks the count does not miss the rest of the batch
            underWay -= 1
            answered(question, outcome)
        }
        arm()
    }

    /// Sets the timer for the timeouts of servers and for pending outcomes.
    func arm() {
        guard underWay > 0 else { return }
        let next = loop.now + (arrived.isEmpty ? Self.tick : 0)
        // if the timer cannot be set for want of memory, the next call or socket event sets it
        if next < due, alarm?.set(milliseconds: next - loop.now) == true { due = next }
    }

    /// A question that c-ares holds.
    final class Ticket {
        // a destroyed channel is not notified: see `ended`
        private unowned let channel: NameChannel
        private let question: NameQuestion

        init(_ channel: NameChannel, _ question: NameQuestion) {
            self.channel = channel
            self.question = question
        }

        /// - Parameter found: the list of c-ares, valid only during this call.
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
        case ARES_EREFUSED.rawValue: self = .refused("the name server refused to respond", rcode: "REFUSED")
        case ARES_ENOTIMP.rawValue: self = .refused("the name server does not know the question", rcode: "NOTIMP")
        case ARES_EFORMERR.rawValue:
            self = .refused("the name server does not understand the question", rcode: "FORMERR")
        case ARES_ETIMEOUT.rawValue: self = .timedOut
        case ARES_ECONNREFUSED.rawValue: self = .failed("no name server could be asked")
        case ARES_EBADNAME.rawValue: self = .failed("it is not a valid name")
        case ARES_EBADRESP.rawValue: self = .failed("the name server's response is malformed")
        default: self = .failed(ares_strerror(status).map { String(cString: $0) } ?? "the name service failed")
        }
    }

    /// Takes the smallest time to live of all records used, including aliases.
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
                // c-ares includes records of the other family
                address.isIPv6 == (family == .v6), !addresses.contains(address)
            {
                addresses.append(address)
            }
            node = one.pointee.ai_next
        }
        let name = list.name.map { String(cString: $0) } ?? ""
        self = addresses.isEmpty ? .empty : .found(addresses, name: name.lowercased(), timeToLive: life)
    }

    /// A time with its highest bit set counts as zero (RFC 2181 §8).
    private static func seconds(_ time: Int32) -> Int { max(0, Int(time)) }
}

/// The open sockets of c-ares, watched for the events that it asks for.
final class NameSockets {
    private let loop: Loop
    private var table: [Int32: NameSocket] = [:]
    unowned var channel: NameChannel?

    init(loop: Loop) { self.loop = loop }

    /// Takes the events that c-ares wants from now on; none before it closes the socket.
    func changed(_ descriptor: Int32, reads: Bool, writes: Bool) {
        if !reads, !writes {
            table.removeValue(forKey: descriptor)?.close()
        } else {
            let socket = table[descriptor] ?? NameSocket(loop: loop, descriptor, of: self)
            table[descriptor] = socket
            socket.watch(reads: reads, writes: writes)
        }
    }

    /// Retries watches that the kernel refused.
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

    /// If memory is short, the watch is missing until the channel retries.
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

// The callbacks that c-ares calls.

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
