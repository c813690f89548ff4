public import Formats

/// The status of the daemon, and its end.
public protocol DaemonLife: AnyObject {
    var status: JSONValue { get }
    /// Accepts no more clients, completes the running work, and exits.
    func drain()
    /// Starts a process that replaces this one.
    func upgrade() throws(ControlProblem)
    var upgradeStatus: JSONValue { get }
}

/// The routes of the daemon's status, drain and upgrade.
public struct LifeRoutes {
    private let life: any DaemonLife

    public init(_ life: any DaemonLife) { self.life = life }

    public var all: [ControlRoute] { [status, drain, upgrade, upgradeStatus] }

    private var status: ControlRoute {
        return ControlRoute(
            "GET", "/v1/status", "status", "Shows the daemon's configuration, load and last errors.",
            answers: [RouteAnswer("The status.", Self.statusShape)]
        ) { _ throws(ControlProblem) in .json(life.status) }
    }

    private var drain: ControlRoute {
        return ControlRoute(
            "POST", "/v1/drain", "drain", "Stops the daemon once its exchanges are finished.",
            answers: [RouteAnswer("It has started.", status: 202, Self.statusShape)]
        ) { _ throws(ControlProblem) in
            life.drain()
            return .json(life.status, status: 202)
        }
    }

    private var upgrade: ControlRoute {
        return ControlRoute(
            "POST", "/v1/upgrade", "upgrade", "Replaces the daemon by a new process, without refusing a connection.",
            answers: [RouteAnswer("It has started.", status: 202, Self.upgradeShape)],
            problems: [
                409: "The daemon is ending, an upgrade is under way, or it is the first process of a container.",
                503: "The system cannot start another process.",
            ]
        ) { _ throws(ControlProblem) in
            try life.upgrade()
            return .json(life.upgradeStatus, status: 202)
        }
    }

    private var upgradeStatus: ControlRoute {
        return ControlRoute(
            "GET", "/v1/upgrade", "upgradeStatus", "Shows the state of the last upgrade, in the process that responds.",
            answers: [RouteAnswer("The state.", Self.upgradeShape)]
        ) { _ throws(ControlProblem) in .json(life.upgradeStatus) }
    }

    private static let upgradeShape = ControlShape.object([
        "pid": .count,
        "state": .described(
            "done: this process replaced another; left: another replaced this one",
            .choice(["none", "running", "left", "done", "failed"])),
        "from?": .count, "to?": .count, "reason?": .text,
    ])

    private static let statusShape = ControlShape.object([
        "version": .text, "pid": .count, "state": .choice(ServicePhase.allCases.map(\.rawValue)), "started": .text,
        "uptime_s": .count,
        "configuration": .object([
            "generation": .count, "file": .text, "loaded": .text, "by": .text, "restart": .list(.text),
            "last_failure": .optional(ReloadReport.shape),
        ]),
        "listening": .list(.text), "socket": .optional(.text),
        "connections": .object(["open": .count, "most": .count, "accepted": .count]),
        "exchanges": .object([
            "under_way": .count, "served": .count, "per_second_10s": .number, "per_second_1m": .number,
        ]),
        "environments": .list(
            .object(["label": .text, "hosts": .list(.text), "allow": .list(.text), "rate": .optional(.text)])),
        "memory_bytes": .count,
        "journal": .optional(
            .object([
                "flows": .count, "bytes": .count, "dropped": .count,
                "disk": .optional(
                    .object(["open": .flag, "flows": .count, "bytes": .count, "dropped": .count])),
            ])),
        "workers": .list(
            .object([
                "number": .count, "connections": .count, "under_way": .count, "accepted": .count, "served": .count,
                "stalls": .count,
            ])),
        "scripts": .list(
            .object([
                "name": .text, "program": .text,
                "retired": .described("Whether the configuration in force does without it.", .flag),
                "unfit": .described("The answers that could not be applied to their messages.", .count),
                "unasked": .described("The questions that failed before a worker had them.", .count),
                "workers": .list(
                    .object([
                        "number": .count, "pid": .optional(.count), "state": .text, "restarts": .count, "open": .count,
                        "answered": .count, "failed": .count, "late": .count, "average_us": .count,
                        "slowest_us": .count, "last_fault": .optional(.text),
                    ])),
            ])),
        "faults": .list(.object(["at": .text, "text": .text])),
    ])
}
