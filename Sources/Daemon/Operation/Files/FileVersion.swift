/// Identifies a file's content, as long as it is not written or replaced.
struct FileVersion: Equatable, Sendable {
    let number: UInt64
    let seconds: Int
    let nanoseconds: Int
}
