internal import Glibc

/// A value behind a lock, for data that threads share; never used for plain requests. Not for a value without a size, such
/// as `()`: it would share its object's address, which confuses the thread sanitizer.
public final class Locked<Value>: @unchecked Sendable {
    // Access to `value` goes through `withLock`, which holds the mutex. It is pthread's own mutex, since the thread
    // sanitizer does not understand Synchronization.Mutex on Linux.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    public init(_ value: Value) {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        // a monotonic clock, so that setting the clock changes no wait
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        self.value = value
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public func withLock<Result, Fault: Error>(_ body: (inout Value) throws(Fault) -> Result) throws(Fault) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Changes the value and wakes one thread in `wait`.
    public func signal(_ body: (inout Value) -> Void) {
        withLock(body)
        // after unlocking, so that the woken thread need not wait for the lock
        pthread_cond_signal(condition)
    }

    /// Changes the value and wakes all threads in `wait`.
    public func signalAll(_ body: (inout Value) -> Void) {
        withLock(body)
        pthread_cond_broadcast(condition)
    }

    /// Blocks the calling thread until `body` returns a result. Never call it on a loop.
    public func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Blocks for at most so many milliseconds; then returns nil.
    public func wait<Result>(milliseconds: Int, _ body: (inout Value) -> Result?) -> Result? {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += milliseconds / 1000
        end.tv_nsec += milliseconds % 1000 * 1_000_000
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_sec += 1
            end.tv_nsec -= 1_000_000_000
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            guard pthread_cond_timedwait(condition, mutex, &end) == 0 else { return body(&value) }
        }
    }
}
