internal import CLinux
internal import Glibc

/// Protects the process's memory.
public enum ProcessSecrecy {
    /// Disables core dumps, whatever the system's limits, and tracing by other processes of the same user. Programs that this
    /// process starts are not affected.
    public static func begin() {
        #if DEBUG
            // tests without root need the same permission as tracing to count the process's descriptors
            if getenv("USHER_TRACEABLE")?.pointee ?? 0 != 0 { return }
        #endif
        _ = usher_set_dumpable(0)
    }
}
