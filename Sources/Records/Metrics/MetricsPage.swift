internal import Interception

/// All metrics as one text. It adds up the counters of all loops for each scrape.
public struct MetricsPage {
    private let loops: [LoopMetrics]
    private let process: ProcessFigures
    private var out = Exposition()

    private init(_ loops: [LoopMetrics], _ process: ProcessFigures) {
        self.loops = loops
        self.process = process
    }

    public static func text(_ loops: [LoopMetrics], _ process: ProcessFigures) -> [UInt8] {
        var page = MetricsPage(loops, process)
        page.writeExchanges()
        page.writeConnections()
        page.writeProtocols()
        page.writeAuthorization()
        page.writeInterceptors()
        page.writeDaemon()
        page.writeSystem()
        return page.out.text
    }

    private func sum(_ counter: LoopCounter) -> UInt64 { loops.reduce(0) { $0 &+ $1.value(counter) } }

    /// Writes a family whose samples differ in one label.
    private mutating func family(
        _ name: String, _ help: String, by label: String, _ samples: [(String, LoopCounter)]
    ) {
        out.begin(name, .counter, help)
        for (value, counter) in samples { out.sample([(label, value)], sum(counter)) }
    }

    private mutating func counter(_ name: String, _ help: String, _ counter: LoopCounter) {
        out.family(name, .counter, help, sum(counter))
    }

    // MARK: exchanges

    private mutating func writeExchanges() {
        var merged: [LoopMetrics.ExchangeKey: [UInt64]] = [:]
        for loop in loops {
            for (key, values) in loop.exchanges.rows() {
                merged[key] = merged[key].map { zip($0, values).map { $0 &+ $1 } } ?? values
            }
        }
        let rows = merged.sorted { Self.order($0.key) < Self.order($1.key) }
        let bounds = DurationBounds.exchange
        out.begin(
            "usher_requests_total", .counter, "Finished requests, by Action and status.")
        for (key, values) in rows {
            out.sample(Self.labels(key), values[..<bounds.sum].reduce(0, &+))
        }
        out.begin(
            "usher_request_duration_seconds", .histogram, "Time from a request's first byte to the end of its response."
        )
        for (key, values) in rows { out.histogram(Self.labels(key), bounds, Array(values[..<bounds.width])) }
        counter(
            "usher_request_body_bytes_total", "Bytes of requests' bodies, and of what clients sent into tunnels.",
            .requestBytes)
        counter(
            "usher_response_body_bytes_total", "Bytes of response bodies, and bytes from tunnels.",
            .responseBytes)
        counter(
            "usher_request_attempts_total", "Times that requests went to their origins, retries and replays with them.",
            .attempts)
        family(
            "usher_answers_total", "Answers that were made here and came from no origin.", by: "by",
            [("interceptor", .answersOfInterceptors), ("usher", .answersOfUsher)])
    }

    private static func order(_ key: LoopMetrics.ExchangeKey) -> (String, String, Int, String) {
        (key.action, key.realm, key.status, key.error)
    }

    private static func labels(_ key: LoopMetrics.ExchangeKey) -> [(name: String, value: String)] {
        [
            ("action", key.action), ("realm", key.realm),
            ("status", key.status == 0 ? MetricLabels.none : "\(key.status)xx"), ("proxy_error", key.error),
        ]
    }

    // MARK: protocols

    private mutating func writeProtocols() {
        out.begin(
            "usher_requests_by_protocol_total", .counter,
            "Finished requests, by protocol of the client and of the origin.")
        let requests: [(String, String, LoopCounter)] = [
            ("client", "http1", .clientRequestsOld), ("client", "http2", .clientRequestsNew),
            ("origin", "http1", .originRequestsOld), ("origin", "http2", .originRequestsNew),
        ]
        for (side, name, counter) in requests { out.sample([("side", side), ("protocol", name)], sum(counter)) }
        family(
            "usher_http2_connections_total", "Connections on which HTTP/2 was spoken.", by: "side",
            [("client", .clientStreamConnections), ("origin", .originStreamConnections)])
        out.begin("usher_http2_streams_open", .gauge, "Streams of HTTP/2 on which a request is under way.")
        for (side, gauge) in [("client", LoopGauge.clientStreams), ("origin", .originStreams)] {
            out.sample([("side", side)], loops.reduce(0) { $0 &+ $1.value(gauge) })
        }
        family(
            "usher_http2_streams_refused_total",
            "Streams that were refused before anything was made of their requests: clients' here, or by origins.",
            by: "side", [("client", .clientStreamsRefused), ("origin", .originStreamsRefused)])
        family(
            "usher_http2_floods_total", "Connections of HTTP/2 that were ended for what came too fast on them.",
            by: "side",
            [("client", .clientFloods), ("origin", .originFloods)])
    }

    // MARK: connections

    private mutating func writeConnections() {
        counter("usher_connections_accepted_total", "Clients' connections that were taken.", .accepted)
        out.family(
            "usher_connections_open", .gauge, "Clients' connections that are open.",
            loops.reduce(0) { $0 &+ Self.difference($1.value(.accepted), $1.value(.closed)) })
        family(
            "usher_connections_refused_total", "Clients' connections that were not taken, by the reason.", by: "reason",
            [("connections", .refusedAll), ("per_client", .refusedShare), ("not_allowed", .refusedAddress)])
        counter("usher_accept_failures_total", "Connections that the system would not hand over.", .acceptFailed)
        family(
            "usher_origin_leases_total",
            "Connections to origins that requests were given: new, idle, or shared with others.",
            by: "kind", [("new", .leasedNew), ("idle", .leasedIdle), ("shared", .leasedShared)])
        out.family(
            "usher_origin_idle_connections", .gauge, "Idle connections to origins that are kept.",
            loops.reduce(0) { $0 &+ $1.value(.idleOriginConnections) })
        family(
            "usher_dial_failures_total", "Connections to origins that could not be made, by the reason.", by: "reason",
            [
                ("name", .dialName), ("names_overloaded", .dialOverload), ("refused", .dialRefused),
                ("given_up", .dialTimeout), ("forbidden", .dialForbidden), ("loop", .dialLoop), ("tunnel", .dialTunnel),
                ("tls", .dialTLS), ("other", .dialOther),
            ])
        family(
            "usher_name_lookups_total", "Names that were looked up: known already, asked for, or not found.",
            by: "result",
            [("known", .namesKnown), ("asked", .namesAsked), ("failed", .namesFailed)])
        out.begin("usher_tls_handshakes_total", .counter, "TLS handshakes, by whose and how they ended.")
        let handshakes: [(String, String, LoopCounter)] = [
            ("client", "full", .clientHandshakes), ("client", "resumed", .clientResumptions),
            ("client", "failed", .clientHandshakeFailures), ("origin", "full", .originHandshakes),
            ("origin", "resumed", .originResumptions), ("origin", "failed", .originHandshakeFailures),
        ]
        for (side, result, counter) in handshakes { out.sample([("side", side), ("result", result)], sum(counter)) }
        counter(
            "usher_leaf_certificates_minted_total", "Certificates that were made for intercepted hosts.", .leavesMinted)
    }

    private static func difference(_ more: UInt64, _ less: UInt64) -> UInt64 { more > less ? more - less : 0 }

    // MARK: transactional authorization

    private mutating func writeAuthorization() {
        counter("usher_advice_total", "Answers of resources that asked for a step-up.", .advice)
        family(
            "usher_step_ups_total", "What became of advice.", by: "outcome",
            [
                ("replayed", .stepUpsReplayed), ("not_replayed", .stepUpsNotReplayed),
                ("not_approved", .stepUpsNotApproved), ("failed", .stepUpsFailed), ("declined", .stepUpsDeclined),
                ("held_off", .stepUpsHeldOff), ("abandoned", .stepUpsAbandoned),
                ("left_to_client", .stepUpsLeftToClient),
            ])
        family(
            "usher_own_calls_total", "Calls that Usher made itself, by what for.", by: "purpose",
            [
                ("step_up", .stepUpCalls), ("login", .loginCalls), ("session", .sessionCalls), ("token", .tokenCalls),
                ("decision", .decisionCalls), ("device", .deviceCalls),
            ])
        counter("usher_sessions_won_total", "Sessions that logins of Usher's own won.", .sessionsWon)
        family(
            "usher_tokens_won_total", "Tokens that Usher had itself, by how.", by: "grant",
            [("granted", .tokensWon), ("refreshed", .tokensRefreshed)])
        out.family(
            "usher_transactions_waiting", .gauge, "Step-ups that wait for a person.",
            UInt64(max(0, process.transactionsWaiting)))
        counter("usher_transactions_asked_total", "Step-ups that a person was asked for.", .personsAsked)
        counter("usher_transactions_answered_total", "Step-ups that a person spoke to.", .personsSpoke)
    }

    // MARK: interceptors

    private mutating func writeInterceptors() {
        var merged: [String: [UInt64]] = [:]
        for loop in loops {
            for (name, values) in loop.interceptors.rows() {
                merged[name] = merged[name].map { zip($0, values).map { $0 &+ $1 } } ?? values
            }
        }
        out.begin("usher_interceptor_results_total", .counter, "What interceptors did, by name.")
        for (name, values) in merged.sorted(by: { $0.key < $1.key }) {
            for (deed, count) in zip(Deed.allCases, values) where count > 0 {
                out.sample([("interceptor", name), ("result", deed.rawValue)], count)
            }
        }
        counter("usher_limit_waits_total", "Requests that waited for their turn at a limit.", .limitWaits)
        out.begin("usher_limit_wait_seconds_total", .counter, "How long they waited, as far as their turn came.")
        out.sample([], thousandths: sum(.limitWaitMilliseconds))
    }

    // MARK: the daemon

    private mutating func writeDaemon() {
        out.begin("usher_build_info", .gauge, "Always 1; the label tells the version.")
        out.sample([("version", process.version)], 1)
        out.family("usher_workers", .gauge, "Event loops that serve clients.", UInt64(loops.count))
        out.family(
            "usher_configuration_generation", .gauge, "Counts the configurations that were in force, from 1.",
            UInt64(max(0, process.generation)))
        out.begin("usher_configuration_reloads_total", .counter, "Reloads of the configuration, by how they ended.")
        out.sample([("result", "succeeded")], UInt64(process.reloads.succeeded))
        out.sample([("result", "failed")], UInt64(process.reloads.failed))
        out.family(
            "usher_configuration_last_reload_successful", .gauge,
            "1 where the last reload was put in force, 0 where not.",
            process.reloads.isLastGood ? 1 : 0)
        out.family(
            "usher_configuration_in_force_since_timestamp_seconds", .gauge,
            "When the configuration was put in force, in seconds since 1970.", UInt64(max(0, process.reloads.since)))
        out.begin(
            "usher_loop_lag_seconds", .histogram, "How late the loops came to what was due, ten times a second each.")
        var lag = [UInt64](repeating: 0, count: DurationBounds.lag.width)
        for loop in loops { for index in lag.indices { lag[index] &+= loop.lag.value(index) } }
        out.histogram([], .lag, lag)
        counter("usher_loop_stalls_total", "Times that a loop was half a second late, or more.", .stalls)
        out.begin("usher_log_lines_total", .counter, "Lines of the log: written, or dropped because nobody took them.")
        write(process.log, as: "written", "dropped")
        if let traces = process.traces {
            out.begin("usher_trace_spans_total", .counter, "Spans for the collector: taken by it, or dropped.")
            write(traces, as: "exported", "dropped")
        }
        if !process.scripts.isEmpty { writeScripts() }
        guard let journal = process.journal else { return }
        out.family("usher_journal_flows", .gauge, "Flows that the journal holds.", journal.flows)
        out.family("usher_journal_bytes", .gauge, "Bytes that they take.", journal.bytes)
        out.begin("usher_journal_records_total", .counter, "Flows that came to the journal: taken, or dropped.")
        var records = ProcessFigures.QueueFigures()
        records.written = journal.taken
        records.lost = journal.lost
        write(records, as: "taken", "dropped")
        if let disk = journal.disk { writeDisk(disk) }
    }

    private mutating func writeScripts() {
        typealias Worker = ProcessFigures.ScriptFigures.Worker
        func each(
            _ name: String, _ kind: Exposition.Kind, _ help: String, _ write: ([(String, String)], Worker) -> Void
        ) {
            out.begin(name, kind, help)
            for script in process.scripts {
                for one in script.workers { write([("script", script.name), ("worker", "\(one.number)")], one) }
            }
        }
        each("usher_script_up", .gauge, "Whether a worker takes questions.") { out.sample($0, $1.isReady ? 1 : 0) }
        each("usher_script_restarts_total", .counter, "Times that a worker was started again.") {
            out.sample($0, $1.restarts)
        }
        each("usher_script_open", .gauge, "Questions that wait for an answer.") { out.sample($0, $1.open) }
        each("usher_script_answers_total", .counter, "Answers in time, good or bad.") { out.sample($0, $1.answered) }
        each("usher_script_failures_total", .counter, "Questions without a good answer in time.") {
            out.sample($0, $1.failed)
        }
        each("usher_script_late_total", .counter, "Answers that came after their exchange went on.") {
            out.sample($0, $1.late)
        }
        each("usher_script_answer_seconds_total", .counter, "The time of all answers together.") {
            out.sample($0, thousandths: $1.milliseconds)
        }
        out.begin("usher_script_unasked_total", .counter, "Questions that failed before a worker had them.")
        for script in process.scripts { out.sample([("script", script.name)], script.unasked) }
        out.begin("usher_script_unfit_total", .counter, "Answers that could not be applied to their messages.")
        for script in process.scripts { out.sample([("script", script.name)], script.unfit) }
    }

    private mutating func writeDisk(_ disk: ProcessFigures.DiskFigures) {
        out.family("usher_journal_disk_up", .gauge, "Whether the journal on the disk is open.", disk.isOpen ? 1 : 0)
        out.family("usher_journal_disk_flows", .gauge, "Flows that the journal holds on the disk.", disk.flows)
        out.family("usher_journal_disk_bytes", .gauge, "Bytes that they take there.", disk.bytes)
        out.begin(
            "usher_journal_disk_records_total", .counter, "Flows on their way to the disk: written, or dropped.")
        var records = ProcessFigures.QueueFigures()
        records.written = disk.written
        records.lost = disk.lost
        write(records, as: "written", "dropped")
    }

    private mutating func write(_ queue: ProcessFigures.QueueFigures, as written: String, _ lost: String) {
        out.sample([("result", written)], queue.written)
        out.sample([("result", lost)], queue.lost)
    }

    /// Writes the process metrics under the names of Prometheus's client libraries.
    private mutating func writeSystem() {
        guard let system = process.system else { return }
        out.begin("process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.")
        out.sample([], thousandths: system.startMilliseconds)
        out.begin("process_cpu_seconds_total", .counter, "CPU time of the process, user and system.")
        out.sample([], thousandths: system.cpuMilliseconds)
        out.family("process_resident_memory_bytes", .gauge, "Memory that is resident.", system.residentBytes)
        out.family("process_virtual_memory_bytes", .gauge, "Memory that is mapped.", system.virtualBytes)
        out.family("process_open_fds", .gauge, "File descriptors that are open.", system.openDescriptors)
        out.family("process_max_fds", .gauge, "File descriptors that may be open.", system.descriptorLimit)
        out.family("process_threads", .gauge, "Threads of the process.", system.threads)
    }
}
