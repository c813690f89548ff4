extension Snapshot {
    /// The keys that changed in `new` but take effect only after a restart of a daemon that began with this snapshot.
    public func needingRestart(for new: Snapshot) -> [String] {
        var keys: [String] = []
        if listeners != new.listeners { keys.append("listen") }
        if workers != new.workers { keys.append("workers") }
        if log.access != new.log.access { keys.append("log.access") }
        if log.target != new.log.target { keys.append("log.to") }
        if tracing != new.tracing { keys.append("tracing") }
        if controlSocket != new.controlSocket { keys.append("admin.socket") }
        if controlGroup != new.controlGroup { keys.append("admin.group") }
        if admin?.listener != new.admin?.listener { keys.append("admin.listen") }
        return keys
    }
}
