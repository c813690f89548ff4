#if DEBUG
    internal import Glibc

    /// Makes one call fail on purpose, in debug builds only. A scenario runs with the first call failing, then the second,
    /// until no call is left.
    public final class FaultPlan: Sendable {
        public enum Call: String, Sendable, CaseIterable {
            case recv, send, splice, pipe, socket, connect, accept
            case eventAdd = "event_add"
            /// TLS calls that fail for want of memory: connection setup, decrypting records, encrypting records.
            case tlsBegin = "tls_begin"
            case tlsOpen = "tls_open"
            case tlsSeal = "tls_seal"
        }

        private struct State {
            var seen = 0
            var hasFired = false
        }

        public let call: Call
        public let number: Int
        public let code: Int32
        private let announces: Bool
        private let state = Locked(State())

        /// - Parameters:
        ///   - call: the kind of call that is counted.
        ///   - number: the call that fails, counted from 1.
        ///   - code: its `errno`.
        public init(_ call: Call, number: Int, code: Int32) {
            self.call = call
            self.number = number
            self.code = code
            announces = false
        }

        /// Parses a plan such as `send:3:ECONNRESET`. Such a plan reports on standard error when it fires.
        init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, let call = Call(rawValue: String(parts[0])), let number = Int(parts[1]), number > 0,
                let code = Self.codes[String(parts[2])]
            else { return nil }
            self.call = call
            self.number = number
            self.code = code
            announces = true
        }

        /// A code that makes the call hang for ever.
        private static let hang = Int32.max

        /// A code that delays the call by three seconds.
        private static let stall = Int32.max - 1

        private static let codes = [
            "HANG": hang, "STALL": stall, "EAGAIN": EAGAIN, "ECONNABORTED": ECONNABORTED, "ECONNREFUSED": ECONNREFUSED,
            "ECONNRESET": ECONNRESET,
            "EHOSTUNREACH": EHOSTUNREACH, "EINTR": EINTR, "EMFILE": EMFILE, "ENFILE": ENFILE, "ENOBUFS": ENOBUFS,
            "ENOMEM": ENOMEM, "ENOSPC": ENOSPC, "EPIPE": EPIPE, "ETIMEDOUT": ETIMEDOUT,
        ]

        /// The plan in the environment variable `USHER_FAULT`, for all loops of this process.
        public static let ofProcess = getenv("USHER_FAULT").flatMap { FaultPlan(String(cString: $0)) }

        /// Whether the call has failed.
        public var hasFired: Bool { state.withLock { $0.hasFired } }

        /// Counts a call that is about to be made. Returns true, with `errno` set, if it must fail.
        static func injects(_ plan: FaultPlan?, _ call: Call) -> Bool {
            guard let plan, plan.call == call else { return false }
            let isDue = plan.state.withLock { state in
                state.seen += 1
                guard state.seen == plan.number else { return false }
                state.hasFired = true
                return true
            }
            guard isDue else { return false }
            if plan.announces {
                let line = Array("fault: \(call.rawValue) \(plan.number) failed\n".utf8)
                _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
            }
            while plan.code == hang { sleep(1) }
            if plan.code == stall {
                sleep(3)
                return false
            }
            errno = plan.code
            return true
        }
    }
#endif
