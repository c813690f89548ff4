import Interception

/// Collects the spans of one loop and passes them on in batches.
final class SpanBatch {
    private let exporter: TraceExporter
    private var spans: [FinishedSpan] = []
    private static let size = 256

    init(_ exporter: TraceExporter) { self.exporter = exporter }

    func take(_ record: borrowing ExchangeRecord) {
        guard let span = FinishedSpan(record) else { return }
        spans.append(span)
        if spans.count >= Self.size { flush() }
    }

    func flush() {
        guard !spans.isEmpty else { return }
        exporter.post(spans)
        spans.removeAll(keepingCapacity: true)
    }
}
