internal import Formats
internal import HTTPCodec
public import Interception

/// Writes records as JSON lines: what happened on the way, then the exchange itself. One for each loop; lines gather in a
/// buffer and leave in batches, so that a request costs no system call here.
public final class AccessLog {
    public enum Detail: Sendable {
        /// Nothing but errors.
        case none
        case exchanges
        /// What happened on the way as well.
        case events
    }

    private var buffer: [UInt8] = []
    private var clock = Timestamp()
    private let detail: Detail
    private let emit: ([UInt8]) -> Void
    private static let batch = 48 << 10

    /// - Parameter emit: takes a batch of whole lines; must not block.
    public init(detail: Detail, emit: @escaping ([UInt8]) -> Void) {
        self.detail = detail
        self.emit = emit
    }

    public func record(_ record: borrowing ExchangeRecord) {
        guard detail != .none else { return }
        if detail == .events {
            for event in record.events { write(event, flow: record.flow) }
        }
        write(record)
        if buffer.count >= Self.batch { flush() }
    }

    /// Something that concerns no single exchange.
    public func warn(_ text: String) {
        buffer.append(literal: "{\"time\":\"")
        clock.append(to: &buffer)
        buffer.append(literal: "\"")
        member(",\"error\":", text)
        buffer.append(literal: "}\n")
    }

    public func flush() {
        guard !buffer.isEmpty else { return }
        emit(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private func write(_ event: ExchangeRecord.Event, flow: UInt64) {
        begin(flow)
        buffer.append(literal: ",\"event\":\"")
        buffer.append(contentsOf: event.moment.kind.rawValue.utf8)
        buffer.append(literal: "\",\"text\":")
        JSONValue.writeString(event.moment.sentence, to: &buffer)
        member(",\"at_ms\":", UInt64(max(0, event.at)))
        buffer.append(literal: "}\n")
    }

    private func write(_ record: borrowing ExchangeRecord) {
        begin(record.flow)
        buffer.append(literal: ",\"client\":\"")
        buffer.append(contentsOf: record.client.utf8)
        buffer.append(0x22)
        member(",\"user\":", record.user)
        buffer.append(literal: ",\"method\":\"")
        JSONValue.writeEscaped(record.method.span, to: &buffer)
        buffer.append(literal: "\",\"url\":\"")
        JSONValue.writeEscaped(record.url.span, to: &buffer)
        buffer.append(literal: "\"")
        member(",\"status\":", UInt64(max(0, record.status)))
        member(",\"action\":", record.action?.rawValue)
        member(",\"realm\":", record.realm)
        member(",\"tree\":", record.tree)
        member(",\"request_bytes\":", record.requestBytes)
        member(",\"response_bytes\":", record.responseBytes)
        member(",\"ms\":", UInt64(max(0, record.milliseconds)))
        member(",\"attempts\":", UInt64(max(0, record.attempts)))
        member(",\"proxy_error\":", record.proxyError)
        buffer.append(literal: "}\n")
    }

    private func begin(_ flow: UInt64) {
        buffer.append(literal: "{\"time\":\"")
        clock.append(to: &buffer)
        buffer.append(literal: "\",\"flow\":\"")
        buffer.append(hexadecimal: flow)
        buffer.append(0x22)
    }

    private func member(_ name: StaticString, _ value: UInt64) {
        buffer.append(literal: name)
        buffer.append(decimal: value)
    }

    private func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        buffer.append(literal: name)
        JSONValue.writeString(value, to: &buffer)
    }
}
