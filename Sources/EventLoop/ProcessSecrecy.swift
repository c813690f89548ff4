internal import CLinux
internal import Glibc

/// Keeps what is in this process's memory to itself.
public enum ProcessSecrecy {
    /// From here on there are no core files, whatever the system's limits say, and no other process of the same user may
    /// trace this one. What it starts by itself is not meant: those are other programs.
    public static func begin() {
        usher_set_dumpable(0)
        var limit = rlimit()
        setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &limit)
    }
}
