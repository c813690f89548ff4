internal import CLinux
import Glibc
import Interception

/// Waits for asynchronous Swift interceptors without an event loop, for `explain` and `test`.
enum CodeWait {
    /// - Returns: nil after the interceptor's deadline.
    static func answer(_ call: SwiftCall) -> SwiftAnswer? {
        let outcome = Outcome()
        let task = Task.detached {
            outcome.tell(await call.answer { Console.error("\(call.words) completed more than once") })
        }
        let answer = outcome.wait(milliseconds: call.deadline)
        task.cancel()
        return answer
    }

    /// The result, passed from one thread to another.
    // unchecked: the answer is written before the semaphore is posted, and read after it was waited for
    private final class Outcome: @unchecked Sendable {
        private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        private var answer: SwiftAnswer?

        init() { sem_init(semaphore, 0, 0) }

        deinit {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }

        func tell(_ answer: SwiftAnswer) {
            self.answer = answer
            sem_post(semaphore)
        }

        func wait(milliseconds: Int) -> SwiftAnswer? {
            var limit = timespec()
            clock_gettime(CLOCK_MONOTONIC, &limit)
            let nanoseconds = limit.tv_nsec + milliseconds % 1000 * 1_000_000
            limit.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
            limit.tv_nsec = nanoseconds % 1_000_000_000
            while usher_sem_clockwait(semaphore, CLOCK_MONOTONIC, &limit) != 0 {
                if errno != EINTR { return nil }
            }
            return answer
        }
    }
}
