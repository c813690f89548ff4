internal import HTTPCodec
public import Interception

/// The metrics of one loop. Only its thread writes; scrapes read from another one. A plain exchange allocates nothing and
/// takes no lock.
public final class LoopMetrics: @unchecked Sendable {
    // the tables are safe to share; all else belongs to the loop's thread

    /// The labels of a series of exchanges.
    struct ExchangeKey: Hashable, Sendable {
        var action: String
        var realm: String
        var status: Int
        var error: String
    }

    /// The column of an exchange's series, behind its histogram, for responses that asked for a step-up.
    static let stepUps = DurationBounds.exchange.width

    private let counters = CounterRow(LoopCounter.allCases.count)
    private let gauges = CounterRow(LoopGauge.allCases.count)
    let lag = CounterRow(DurationBounds.lag.width)
    let exchanges = Series<ExchangeKey>(capacity: 512, reserve: 16, width: LoopMetrics.stepUps + 1)
    let interceptors = Series<String>(capacity: 2_048, reserve: 1, width: Deed.allCases.count)

    private var labels = MetricLabels()
    /// The series of exchanges without an Action and without a fault, by the first digit of the status.
    private var plain: [Int] = Array(repeating: -1, count: 6)

    /// A loop that is late by so many milliseconds counts as stalled.
    static let stall = 500

    public init() {}

    /// Adopts the label values of a new configuration.
    public func adopt(_ labels: MetricLabels) { self.labels = labels }

    @inline(__always)
    public func count(_ counter: LoopCounter, _ amount: UInt64 = 1) { counters.add(counter.rawValue, amount) }
    public func set(_ gauge: LoopGauge, _ value: Int) { gauges.set(gauge.rawValue, UInt64(max(0, value))) }

    public func value(_ counter: LoopCounter) -> UInt64 { counters.value(counter.rawValue) }
    public func value(_ gauge: LoopGauge) -> UInt64 { gauges.value(gauge.rawValue) }

    /// Records that the loop ran so many milliseconds after the due time.
    public func wasLate(by milliseconds: Int) {
        let late = max(0, milliseconds)
        lag.add(DurationBounds.lag.column(of: late))
        lag.add(DurationBounds.lag.sum, UInt64(late))
        if late >= Self.stall { count(.stalls) }
    }

    // MARK: exchanges

    public func take(_ record: borrowing ExchangeRecord) {
        let bounds = DurationBounds.exchange
        let milliseconds = max(0, record.milliseconds)
        let place = place(of: record)
        exchanges.add(place, bounds.column(of: milliseconds))
        exchanges.add(place, bounds.sum, UInt64(milliseconds))
        count(.requestBytes, record.requestBytes)
        count(.responseBytes, record.responseBytes)
        count(.attempts, UInt64(max(0, record.attempts)))
        count(record.version == .http2 ? .clientRequestsNew : .clientRequestsOld)
        if let version = record.originVersion { count(version == .http2 ? .originRequestsNew : .originRequestsOld) }
        if record.proxyError != nil { count(.answersOfUsher) }
        if !record.wins.isEmpty { take(record.wins) }
        if !record.events.isEmpty { for event in record.events { take(event.value, at: place) } }
    }

    private func place(of record: borrowing ExchangeRecord) -> Int {
        let status = (100..<600).contains(record.status) ? record.status / 100 : 0
        let isPlain = record.action == nil && record.realm == nil && record.proxyError == nil
        if isPlain, plain[status] >= 0 { return plain[status] }
        let key = ExchangeKey(
            action: labels.of(record.action), realm: labels.of(realm: record.realm), status: status,
            error: record.proxyError ?? MetricLabels.none)
        let other = MetricLabels.other
        let place = exchanges.place(
            of: key,
            orElse: ExchangeKey(
                action: other, realm: other, status: status,
                error: key.error == MetricLabels.none ? MetricLabels.none : other))
        if isPlain { plain[status] = place }
        return place
    }

    // MARK: moments

    private func take(_ wins: Wins) {
        if wins.contains(.session) { count(.sessionsWon) }
        if wins.contains(.token) { count(.tokensWon) }
        if wins.contains(.refreshedToken) { count(.tokensRefreshed) }
    }

    /// - Parameter place: the exchange's series.
    private func take(_ event: LogEvent, at place: Int) {
        if let (name, deed) = event.deed { take(deed, of: labels.of(interceptor: name)) }
        switch event {
        case .responded: count(.answersOfInterceptors)
        case .queued: count(.limitWaits)
        case .admitted(_, let milliseconds): count(.limitWaitMilliseconds, UInt64(max(0, milliseconds)))
        case .advice:
            count(.advice)
            exchanges.add(place, Self.stepUps)
        case .replayed: count(.stepUpsReplayed)
        case .notReplayed: count(.stepUpsNotReplayed)
        case .notApproved: count(.stepUpsNotApproved)
        case .stepUpFailed: count(.stepUpsFailed)
        case .declined: count(.stepUpsDeclined)
        case .heldOff: count(.stepUpsHeldOff)
        case .abandoned: count(.stepUpsAbandoned)
        case .leftToClient: count(.stepUpsLeftToClient)
        case .parked: count(.personsAsked)
        case .spoken: count(.personsSpoke)
        case .call: count(.stepUpCalls)
        case .loginCall: count(.loginCalls)
        case .sessionCall: count(.sessionCalls)
        case .tokenCall: count(.tokenCalls)
        case .question: count(.decisionCalls)
        case .deviceCall: count(.deviceCalls)
        default: break
        }
    }

    private func take(_ deed: Deed, of name: String) {
        guard let column = Deed.allCases.firstIndex(of: deed) else { return }
        interceptors.add(interceptors.place(of: name, orElse: MetricLabels.other), column)
    }
}
