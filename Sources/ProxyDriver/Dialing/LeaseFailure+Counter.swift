import Metrics
import ProxyCore
import TLSEngine

extension LeaseFailure {
    /// As what it is counted.
    var counter: LoopCounter {
        switch self {
        case .unresolvable, .unresolved: .dialName
        case .overloaded, .tooManyNames: .dialOverload
        case .refused: .dialRefused
        case .timedOut: .dialTimeout
        case .forbidden: .dialForbidden
        case .loop: .dialLoop
        case .tunnelRefused: .dialTunnel
        case .insecure: .dialTLS
        case .failed: .dialOther
        }
    }

    /// The origin speaks none of what was offered to it (RFC 7301 §3.2).
    var wantsAnotherProtocol: Bool {
        if case .insecure(let fault) = self { fault.kind == .alert(120) } else { false }
    }
}
