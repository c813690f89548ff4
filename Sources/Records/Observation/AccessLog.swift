internal import Formats
internal import Glibc
internal import HTTPCodec
public import Interception

/// Writes the access log: events of an exchange, then the exchange. Each loop has one. Lines are buffered and written in
/// batches, so that a request causes no system call here.
public final class AccessLog {
    public enum Detail: UInt8, Sendable {
        /// Errors alone.
        case none
        case exchanges
        /// Exchanges and their events.
        case events
    }

    public enum Format: Sendable {
        case json
        /// Apache's formats. Such a file contains exchanges alone, since its readers do not accept other lines.
        case common, combined
    }

    private var buffer: [UInt8] = []
    private var clock = Timestamp()
    private var start = Timestamp()
    private var common = CommonLogLine()
    private let detail: LogDetail
    private let format: Format
    private let frame: LogFrame
    private let emit: ([UInt8]) -> Void
    private let say: (String) -> Void
    private static let batch = 48 << 10

    /// - Parameter emit: takes a batch of whole lines; it must not block.
    public convenience init(detail: Detail, emit: @escaping ([UInt8]) -> Void) {
        self.init(detail: LogDetail(detail), emit: emit)
    }

    /// - Parameters:
    ///   - emit: takes a batch of whole records; it must not block.
    ///   - say: takes lines that the format cannot contain; it must not block either.
    public init(
        detail: LogDetail, format: Format = .json, frame: LogFrame = .lines, emit: @escaping ([UInt8]) -> Void,
        say: @escaping (String) -> Void = { _ in }
    ) {
        self.detail = detail
        self.format = format
        self.frame = frame
        self.emit = emit
        self.say = say
    }

    public func record(_ record: borrowing ExchangeRecord) {
        let detail = detail.current
        guard detail != .none else { return }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if format == .json {
            if detail == .events {
                for event in record.events { write(event, flow: record.flow, now) }
            }
            write(record, now)
        } else {
            startLine(priority: 6, flow: record.flow, of: record)
            common.append(
                record, began: Self.time(record.milliseconds, before: now).tv_sec, isCombined: format == .combined,
                to: &buffer)
            end()
        }
        if buffer.count >= Self.batch { flush() }
    }

    /// Writes a warning that concerns no single exchange.
    public func warn(_ text: String) {
        guard format == .json || frame == .entries else { return say(text) }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        startLine(priority: 4)
        buffer.append(literal: "{\"time\":\"")
        clock.append(now, to: &buffer)
        buffer.append(literal: "\"")
        member(",\"error\":", text)
        buffer.append(literal: "}")
        end()
    }

    public func flush() {
        guard !buffer.isEmpty else { return }
        emit(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    // MARK: the frame

    private func startLine(priority: UInt8) {
        guard frame == .entries else { return }
        buffer.append(literal: "PRIORITY=")
        buffer.append(decimal: UInt64(priority))
        buffer.append(literal: "\nSYSLOG_IDENTIFIER=usher\nMESSAGE=")
    }

    private func startLine(priority: UInt8, flow: UInt64, of record: borrowing ExchangeRecord) {
        guard frame == .entries else { return }
        buffer.append(literal: "USHER_FLOW=")
        buffer.append(hexadecimal: flow)
        buffer.append(literal: "\nUSHER_STATUS=")
        buffer.append(decimal: UInt64(max(0, record.status)))
        buffer.append(0x0A)
        if let action = record.action {
            buffer.append(literal: "USHER_ACTION=")
            buffer.append(contentsOf: action.rawValue.utf8)
            buffer.append(0x0A)
        }
        startLine(priority: priority)
    }

    private func end() { buffer.append(literal: frame == .lines ? "\n" : "\n\n") }

    // MARK: JSON

    private func write(_ event: ExchangeRecord.Event, flow: UInt64, _ now: timespec) {
        if frame == .entries {
            buffer.append(literal: "USHER_FLOW=")
            buffer.append(hexadecimal: flow)
            buffer.append(0x0A)
            startLine(priority: 6)
        }
        startLine(flow, now)
        buffer.append(literal: ",\"event\":\"")
        buffer.append(contentsOf: event.value.kind.rawValue.utf8)
        buffer.append(literal: "\",\"text\":")
        JSONValue.writePlain(event.value.sentence, to: &buffer)
        member(",\"interceptor\":", event.value.interceptor)
        member(",\"at_ms\":", UInt64(max(0, event.at)))
        buffer.append(literal: "}")
        end()
    }

    /// Writes a record. Parts of bounded size share one reservation of space.
    private func write(_ record: borrowing ExchangeRecord, _ now: timespec) {
        startLine(priority: 6, flow: record.flow, of: record)
        let (flow, started) = (record.flow, Self.time(record.milliseconds, before: now))
        buffer.append(addingCapacity: 64 + 2 * Timestamp.room) { out in
            startLine(flow, now, &out)
            out.append(literal: ",\"started\":\"")
            start.append(started, to: &out)
            out.append(literal: "\",\"client\":\"")
        }
        buffer.append(contentsOf: record.client.utf8)
        buffer.append(0x22)
        member(",\"user\":", record.user)
        member(",\"session\":", record.testSession)
        buffer.append(literal: ",\"method\":\"")
        JSONValue.writeEscaped(record.method.span, to: &buffer)
        buffer.append(literal: "\",\"url\":\"")
        JSONValue.writeEscaped(record.url.span, to: &buffer)
        let (version, originVersion, status) = (record.version, record.originVersion, record.status)
        buffer.append(addingCapacity: 128) { out in
            out.append(literal: "\",\"protocol\":\"")
            out.append(literal: version.text)
            out.append(0x22)
            if let originVersion {
                out.append(literal: ",\"origin_protocol\":\"")
                out.append(literal: originVersion.text)
                out.append(0x22)
            }
            Self.member(",\"status\":", UInt64(max(0, status)), &out)
        }
        member(",\"action\":", record.action?.rawValue)
        member(",\"realm\":", record.realm)
        member(",\"tree\":", record.tree)
        let (requestBytes, responseBytes) = (record.requestBytes, record.responseBytes)
        let (milliseconds, attempts) = (record.milliseconds, record.attempts)
        buffer.append(addingCapacity: 160) { out in
            Self.member(",\"request_bytes\":", requestBytes, &out)
            Self.member(",\"response_bytes\":", responseBytes, &out)
            Self.member(",\"ms\":", UInt64(max(0, milliseconds)), &out)
            Self.member(",\"attempts\":", UInt64(max(0, attempts)), &out)
        }
        member(",\"proxy_error\":", record.proxyError)
        if let trace = record.trace {
            buffer.append(literal: ",\"trace\":\"")
            buffer.append(contentsOf: trace.trace.description.utf8)
            buffer.append(0x22)
        }
        buffer.append(literal: "}")
        end()
    }

    private func startLine(_ flow: UInt64, _ now: timespec) {
        buffer.append(addingCapacity: 48 + Timestamp.room) { startLine(flow, now, &$0) }
    }

    private func startLine(_ flow: UInt64, _ now: timespec, _ out: inout OutputSpan<UInt8>) {
        out.append(literal: "{\"time\":\"")
        clock.append(now, to: &out)
        out.append(literal: "\",\"flow\":\"")
        out.append(hexadecimal: flow)
        out.append(0x22)
    }

    /// The time so many milliseconds before `now`.
    static func time(_ milliseconds: Int, before now: timespec) -> timespec {
        let before = max(0, milliseconds)
        var time = now
        time.tv_sec -= before / 1_000
        time.tv_nsec -= before % 1_000 * 1_000_000
        if time.tv_nsec < 0 {
            time.tv_sec -= 1
            time.tv_nsec += 1_000_000_000
        }
        return time
    }

    private func member(_ name: StaticString, _ value: UInt64) {
        buffer.append(literal: name)
        buffer.append(decimal: value)
    }

    private static func member(_ name: StaticString, _ value: UInt64, _ out: inout OutputSpan<UInt8>) {
        out.append(literal: name)
        out.append(decimal: value)
    }

    private func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        buffer.append(literal: name)
        JSONValue.writePlain(value, to: &buffer)
    }
}
