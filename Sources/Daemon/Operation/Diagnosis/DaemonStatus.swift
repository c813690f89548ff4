import Control
import EventLoop
import Formats
import Glibc
import Interception
import Metrics
import ProxyDriver

/// The daemon's status: counters, and their description.
final class DaemonStatus {
    let faults = RecentFaults()
    private let began = Loop.monotonicMilliseconds()
    private let startedAt = time(nil)
    private var rate = RateWindow()

    /// Samples the load at intervals, for rates.
    func note(_ load: LoadGauge.Reading, now: Int) { rate.note(load.served, now: now) }

    struct View {
        var state: String
        var generation: Int
        var configuration: RunningConfiguration
        var file: String
        var lastFailure: ReloadReport?
        var listening: [String]
        var control: String?
        var mostConnections: Int
        var environments: Environments
        /// Nil if there is no journal.
        var journal: ProcessFigures.JournalFigures?
        var workers: [(load: LoadGauge.Reading, pulse: LoopPulse)]
        var scripts: [ScriptFigures]
    }

    func json(_ view: View) -> JSONValue {
        let now = Loop.monotonicMilliseconds()
        let load = view.workers.reduce(LoadGauge.Reading()) { $0 + $1.load }
        func perSecond(_ span: Int) -> JSONValue {
            let tenths = Int((rate.perSecond(over: span, load.served, now: now) * 10).rounded())
            return .number("\(tenths / 10).\(tenths % 10)")
        }
        return [
            "version": .string(Version.usher), "pid": .integer(Int(getpid())), "state": .string(view.state),
            "started": .string(CalendarTime(startedAt).internet), "uptime_s": .integer((now - began) / 1000),
            "configuration": configuration(view), "listening": .strings(view.listening),
            "socket": .optional(view.control),
            "connections": [
                "open": .integer(load.connections), "most": .integer(view.mostConnections),
                "accepted": .integer(load.accepted),
            ],
            "exchanges": [
                "under_way": .integer(load.underWay), "served": .integer(load.served),
                "per_second_10s": perSecond(10_000), "per_second_1m": perSecond(60_000),
            ],
            "environments": .array(view.environments.entries.map(Self.environment)),
            "memory_bytes": .integer(Self.memory), "journal": Self.journal(view.journal),
            "workers": .array(view.workers.enumerated().map { Self.worker($0.offset, $0.element) }),
            "scripts": .array(view.scripts.map(\.json)),
            "faults": .array(
                faults.all.map {
                    ["at": .string(CalendarTime($0.at).internet), "text": .string($0.text)]
                }),
        ]
    }

    private func configuration(_ view: View) -> JSONValue {
        [
            "generation": .integer(view.generation), "file": .string(view.file),
            "loaded": .string(CalendarTime(view.configuration.since).internet), "by": .string(view.configuration.by),
            "restart": .strings(view.configuration.restart),
            "last_failure": view.lastFailure?.json ?? .null,
        ]
    }

    private static func environment(_ one: HostEnvironment) -> JSONValue {
        [
            "label": .string(one.label), "hosts": .strings(one.hosts), "allow": .strings(one.allows.names),
            "rate": .optional(one.rate?.words),
        ]
    }

    private static func journal(_ figures: ProcessFigures.JournalFigures?) -> JSONValue {
        func count(_ name: String, _ number: UInt64) -> JSONValue.Member {
            .init(name, .integer(Int(clamping: number)))
        }
        guard let figures else { return .null }
        let disk: JSONValue? = figures.disk.map { disk in
            .object([
                .init("open", .bool(disk.isOpen)), count("flows", disk.flows), count("bytes", disk.bytes),
                count("dropped", disk.lost),
            ])
        }
        return .object([
            count("flows", figures.flows), count("bytes", figures.bytes), count("dropped", figures.lost),
            .init("disk", disk ?? .null),
        ])
    }

    private static func worker(_ number: Int, _ one: (load: LoadGauge.Reading, pulse: LoopPulse)) -> JSONValue {
        [
            "number": .integer(number), "connections": .integer(one.load.connections),
            "under_way": .integer(one.load.underWay), "accepted": .integer(one.load.accepted),
            "served": .integer(one.load.served), "stalls": .integer(one.pulse.stallCount),
        ]
    }

    /// The resident memory in bytes; 0 if unknown.
    private static var memory: Int {
        guard let text = try? Input.read("/proc/self/statm", limit: 1 << 10) else { return 0 }
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
