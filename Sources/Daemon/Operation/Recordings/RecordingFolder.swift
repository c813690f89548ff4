import EventLoop
public import Formats
import Glibc

/// Writes the folder of a recording.
public enum RecordingFolder {
    /// Writes the files of the daemon's response into a folder, which is made. None of them may exist.
    public static func write(_ recording: JSONValue, to path: String) throws(FileError) {
        guard mkdir(path, 0o755) == 0 else {
            guard errno == EEXIST else { throw FileError(path, cannotBe: "made") }
            throw FileError("\(path) exists; name another folder with --output, or move it away")
        }
        for file in recording["files"]?.items ?? [] {
            let name = file["name"]?.text ?? ""
            guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
                throw FileError("the daemon sent a file with an invalid name")
            }
            let bytes =
                if let text = file["text"]?.text {
                    Array(text.utf8)
                } else {
                    file["base64"]?.text.flatMap { Base64.decode($0) } ?? []
                }
            try Output.create(bytes, at: "\(path)/\(name)")
        }
    }

    /// True if something has this path.
    public static func exists(_ path: String) -> Bool { !Input.isMissing(path) }
}
