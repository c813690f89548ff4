import Configuration
import Control
import EventLoop

/// Explains requests for the admin API, on a thread of its own, because interceptors in Swift may take a while.
enum ExplanationDesk {
    private static let work = WorkQueue("explain", waiting: 8)

    static func explain(_ request: [UInt8], _ response: [UInt8]?, _ snapshot: Snapshot, _ promise: ControlPromise) {
        do throws(WorkQueue.Refusal) {
            try work.run {
                do throws(Explanation.Fault) {
                    promise.keep(ControlAnswer(try Explanation(request, response: response, snapshot: snapshot).json))
                } catch {
                    promise.refuse(ControlProblem(422, error.description))
                }
            }
        } catch {
            promise.refuse(ControlProblem(503, error.description))
        }
    }
}
