import Formats
import Glibc
import HTTPCodec
import Interception

/// A finished exchange, as exported to a collector of traces.
struct FinishedSpan: Sendable {
    let trace: ExchangeTrace
    let flow: UInt64
    let client: String
    let method: String
    let url: String
    let status: Int
    let action: Action?
    let realm: String?
    let error: String?
    /// In nanoseconds since 1970.
    let began: UInt64
    let ended: UInt64

    init?(_ record: borrowing ExchangeRecord) {
        guard let trace = record.trace, trace.isSampled else { return nil }
        self.trace = trace
        flow = record.flow
        client = record.client
        method = String(decoding: record.method, as: UTF8.self)
        url = String(decoding: record.url, as: UTF8.self)
        status = record.status
        action = record.action
        realm = record.realm
        error = record.proxyError
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        ended = UInt64(max(0, now.tv_sec)) * 1_000_000_000 + UInt64(max(0, now.tv_nsec))
        began = ended &- UInt64(max(0, record.milliseconds)) * 1_000_000
    }
}

/// Encodes spans as OTLP in JSON (opentelemetry-proto, ExportTraceServiceRequest).
struct SpanDocument {
    private var out: [UInt8] = []
    private var isFirst = true

    static func bytes(_ spans: [FinishedSpan], service: String) -> [UInt8] {
        var document = SpanDocument()
        document.out.append(literal: "{\"resourceSpans\":[{\"resource\":{\"attributes\":[")
        document.attribute("service.name", service)
        document.attribute("service.version", Version.usher)
        document.out.append(literal: "]},\"scopeSpans\":[{\"scope\":{\"name\":\"usher\",\"version\":\"")
        document.out.append(contentsOf: Version.usher.utf8)
        document.out.append(literal: "\"},\"spans\":[")
        for (index, span) in spans.enumerated() {
            if index > 0 { document.out.append(0x2C) }
            document.write(span)
        }
        document.out.append(literal: "]}]}]}")
        return document.out
    }

    private mutating func write(_ span: FinishedSpan) {
        startSpan(
            span.trace, span.trace.span, parent: span.trace.parent, name: span.action?.rawValue ?? span.method,
            isServer: true, from: span.began, to: span.ended)
        attribute("http.request.method", span.method)
        attribute("url.full", span.url)
        if span.status > 0 { attribute("http.response.status_code", span.status) }
        attribute("client.address", span.client)
        attribute("usher.flow", String(span.flow, radix: 16))
        if let action = span.action { attribute("usher.action", action.rawValue) }
        if let realm = span.realm { attribute("usher.realm", realm) }
        if let error = span.error { attribute("error.type", error) }
        end(failed: span.error != nil || span.status >= 500)
        for call in span.trace.calls {
            out.append(0x2C)
            let start = span.began + UInt64(max(0, call.began)) * 1_000_000
            let end = span.began + UInt64(max(call.began, call.ended, 0)) * 1_000_000
            startSpan(
                span.trace, call.span, parent: span.trace.span, name: call.action.rawValue, isServer: false,
                from: start, to: max(start, end))
            attribute("http.request.method", call.method)
            attribute("url.full", call.url)
            if call.status > 0 { attribute("http.response.status_code", call.status) }
            attribute("usher.action", call.action.rawValue)
            self.end(failed: call.status == 0 || call.status >= 400)
        }
    }

    private mutating func startSpan(
        _ trace: ExchangeTrace, _ span: UInt64, parent: UInt64, name: String, isServer: Bool, from start: UInt64,
        to end: UInt64
    ) {
        out.append(literal: "{\"traceId\":\"")
        out.append(contentsOf: trace.trace.description.utf8)
        out.append(literal: "\",\"spanId\":\"")
        out.append(contentsOf: TraceID.text(span).utf8)
        if parent != 0 {
            out.append(literal: "\",\"parentSpanId\":\"")
            out.append(contentsOf: TraceID.text(parent).utf8)
        }
        out.append(literal: "\",\"name\":")
        JSONValue.writeString(name, to: &out)
        // SPAN_KIND_SERVER and SPAN_KIND_CLIENT; OTLP's JSON writes 64-bit numbers as strings
        out.append(literal: isServer ? ",\"kind\":2" : ",\"kind\":3")
        out.append(literal: ",\"startTimeUnixNano\":\"")
        out.append(decimal: start)
        out.append(literal: "\",\"endTimeUnixNano\":\"")
        out.append(decimal: end)
        out.append(literal: "\",\"attributes\":[")
        isFirst = true
    }

    private mutating func end(failed: Bool) {
        // STATUS_CODE_ERROR
        out.append(literal: failed ? "],\"status\":{\"code\":2}}" : "]}")
    }

    private mutating func attribute(_ key: String, _ value: String) {
        name(key)
        out.append(literal: "{\"stringValue\":")
        JSONValue.writeString(value, to: &out)
        out.append(literal: "}}")
    }

    private mutating func attribute(_ key: String, _ value: Int) {
        name(key)
        out.append(literal: "{\"intValue\":\"")
        out.append(decimal: UInt64(max(0, value)))
        out.append(literal: "\"}}")
    }

    private mutating func name(_ key: String) {
        if !isFirst { out.append(0x2C) }
        isFirst = false
        out.append(literal: "{\"key\":\"")
        out.append(contentsOf: key.utf8)
        out.append(literal: "\",\"value\":")
    }
}
