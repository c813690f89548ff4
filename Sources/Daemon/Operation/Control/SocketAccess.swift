import Glibc

/// Explains how a user gets access to a control socket.
enum SocketAccess {
    /// The groups of systemd's `DynamicUser=`. Users cannot be added to them.
    private static let madeUp: ClosedRange<gid_t> = 61_184...65_519

    static func remedy(for path: String, user: String?) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "run the command as root, or as the daemon's user" }
        guard !madeUp.contains(status.st_gid), status.st_gid != 0, let group = getgrgid(status.st_gid) else {
            return
                "run the command as root, or give the socket to a group of yours: addgroup --system usher, admin: "
                + "{ group: usher }, and restart the daemon"
        }
        let name = String(cString: group.pointee.gr_name)
        return "its group is \(name): sudo adduser \(user ?? "USER") \(name), and log in again"
    }
}
