internal import CLinux
internal import Glibc

/// Keeps what is in this process's memory to itself.
public enum ProcessSecrecy {
    /// From here on there are no core files, whatever the system's limits say, and no other process of the same user may
    /// trace this one. A program that it starts begins anew.
    public static func begin() {
        #if DEBUG
            // counting a process's descriptors from outside takes the same right as tracing it, which tests have as root alone
            if getenv("USHER_TRACEABLE")?.pointee ?? 0 != 0 { return }
        #endif
        _ = usher_set_dumpable(0)
    }
}
