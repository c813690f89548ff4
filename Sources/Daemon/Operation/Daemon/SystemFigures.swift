import Glibc
import Metrics

/// The kernel's figures about this process.
enum SystemFigures {
    /// Nil if /proc cannot be read.
    static func read() -> ProcessFigures.SystemFigures? {
        guard let stat = contents("/proc/self/stat"), let end = stat.lastIndex(of: 0x29) else { return nil }
        // the process name before it may contain any character (proc_pid_stat(5))
        let fields = stat[(end + 1)...].split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 21, let user = UInt64(fields[11]), let system = UInt64(fields[12]),
            let threads = UInt64(fields[17]), let start = UInt64(fields[19]), let virtual = UInt64(fields[20]),
            let resident = UInt64(fields[21])
        else { return nil }
        var figures = ProcessFigures.SystemFigures()
        let ticks = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        figures.cpuMilliseconds = (user + system) * 1_000 / ticks
        figures.startMilliseconds = (bootTime ?? 0) * 1_000 + start * 1_000 / ticks
        figures.virtualBytes = virtual
        figures.residentBytes = resident * UInt64(max(1, sysconf(Int32(_SC_PAGESIZE))))
        figures.threads = threads
        figures.openDescriptors = openDescriptors
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 {
            figures.descriptorLimit = UInt64(limit.rlim_cur)
        }
        return figures
    }

    /// In seconds since 1970.
    private static var bootTime: UInt64? {
        let name = Array("btime ".utf8)
        for line in contents("/proc/stat")?.split(separator: 0x0A) ?? [] where line.starts(with: name) {
            return UInt64(String(decoding: line.dropFirst(name.count), as: UTF8.self))
        }
        return nil
    }

    private static var openDescriptors: UInt64 {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count: UInt64 = 0
        while readdir(folder) != nil { count += 1 }
        // without the entries `.` and `..`, and the descriptor of this folder
        return count > 3 ? count - 3 : 0
    }

    private static func contents(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += buffer[..<count]
            guard bytes.count <= 1 << 20 else { return bytes }
        }
    }
}
