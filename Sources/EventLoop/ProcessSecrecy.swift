internal import CLinux

/// Keeps what is in this process's memory to itself.
public enum ProcessSecrecy {
    /// From here on there are no core files, whatever the system's limits say, and no other process of the same user may
    /// trace this one. A program that it starts begins anew.
    public static func begin() {
        _ = usher_set_dumpable(0)
    }
}
