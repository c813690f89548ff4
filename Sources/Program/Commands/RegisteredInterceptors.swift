import Interceptors
import Synchronization

/// The Swift interceptors that the program registers. A global, because commands are created from arguments only; set once,
/// before the first command runs.
enum RegisteredInterceptors {
    private static let box = Mutex<[String: any Interceptor]>([:])

    static var all: [String: any Interceptor] {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
