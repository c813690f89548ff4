import Interceptors
import Synchronization

/// What the program registers. Commands are made of arguments alone, so they find it here; set once, before the first.
enum RegisteredInterceptors {
    private static let box = Mutex<[String: any Interceptor]>([:])

    static var all: [String: any Interceptor] {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
