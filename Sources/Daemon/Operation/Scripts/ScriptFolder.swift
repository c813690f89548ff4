import EventLoop
import Glibc
import Scripts

/// The private folder of one process of a script, for bodies that are too large for a frame. A question and its answer share a
/// file, which has the question's id as its name. It is removed with the object.
final class ScriptFolder {
    let path: String
    /// Locked while its Usher runs.
    private let folder: Descriptor
    /// Whom the files belong to.
    private let user: uid_t
    private let group: gid_t
    /// The bytes of the files of open questions.
    private var sizes: [Int: Int] = [:]
    private var total = 0

    private static let most = 64 << 20
    private static let prefix = "usher-script."
    /// The age, in seconds, at which a folder is surely locked.
    private static let settled = 60
    private static var place: String {
        getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    }

    init(user: uid_t, group: gid_t) throws(FileError) {
        var template = Array("\(Self.place)/\(Self.prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw FileError("\(Self.place)/\(Self.prefix)*", cannotBe: "made", remedy: "set TMPDIR")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.user = user
        self.group = group
        folder = Descriptor(owning: open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
        guard flock(folder.number, LOCK_EX | LOCK_NB) == 0, user == geteuid() || fchown(folder.number, user, group) == 0
        else { throw FileError(path, cannotBe: "given to the script") }
    }

    deinit { Self.clear(folder, path) }

    /// Writes the body of a question.
    /// - Returns: the name of the file; nil if there is no room.
    func write(_ body: [UInt8], _ id: Int) -> String? {
        guard total + body.count <= Self.most else { return nil }
        let file = Descriptor(
            owning: openat(folder.number, "\(id)", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
        guard file.number >= 0 else { return nil }
        sizes[id] = body.count
        total += body.count
        if body.withUnsafeBytes({ DescriptorBytes.write($0, to: file) }),
            user == geteuid() || fchown(file.number, user, group) == 0
        {
            return "\(id)"
        }
        forget(id)
        return nil
    }

    /// Reads the body of an answer.
    func read(_ id: Int, limit: Int) throws(FrameFault) -> [UInt8] {
        // non-blocking, because opening a FIFO waits for a writer
        let file = Descriptor(
            owning: openat(folder.number, "\(id)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))
        var status = stat()
        guard file.number >= 0, fstat(file.number, &status) == 0, status.st_uid == user, status.st_nlink == 1 else {
            throw FrameFault(words: "there is no file \(id) of its own in its folder")
        }
        do throws(FileError) {
            return try DescriptorBytes.read(file, "the file \(id)", limit: limit)
        } catch {
            throw FrameFault(words: error.description)
        }
    }

    /// Removes the file of a question that is over.
    func forget(_ id: Int) {
        total -= sizes.removeValue(forKey: id) ?? 0
        unlinkat(folder.number, "\(id)", 0)
    }

    /// Whether a file has the body of this question.
    func has(_ id: Int) -> Bool { sizes[id] != nil }

    /// Removes what an Usher left that ended at once.
    static func sweep() {
        guard let stream = opendir(place) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix) else { continue }
            let path = "\(place)/\(name)"
            let folder = Descriptor(owning: open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
            var status = stat()
            guard fstat(folder.number, &status) == 0, time(nil) - status.st_mtim.tv_sec > settled,
                flock(folder.number, LOCK_EX | LOCK_NB) == 0
            else { continue }
            clear(folder, path)
        }
    }

    private static func clear(_ folder: borrowing Descriptor, _ path: String) {
        let number = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if let stream = fdopendir(number) {
            while let entry = readdir(stream) {
                withUnsafeBytes(of: entry.pointee.d_name) {
                    if let name = $0.bindMemory(to: CChar.self).baseAddress { unlinkat(folder.number, name, 0) }
                }
            }
            closedir(stream)
        } else {
            close(number)
        }
        rmdir(path)
    }
}
