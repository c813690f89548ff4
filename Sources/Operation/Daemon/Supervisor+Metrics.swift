import Configuration
public import Control
import Metrics
import ProxyDriver

extension Supervisor: MetricsSource {
    public var metrics: (text: [UInt8], type: String) {
        var figures = ProcessFigures()
        figures.generation = snapshot.generation
        figures.transactionsWaiting = tables.transactions.list().count
        figures.journal = journal?.figures
        return (instruments.page(figures), MetricsRoutes.mediaType)
    }
}
