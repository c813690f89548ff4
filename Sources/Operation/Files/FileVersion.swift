/// What a file is, as long as nobody writes it or puts another in its place.
struct FileVersion: Equatable, Sendable {
    let number: UInt64
    let seconds: Int
    let nanoseconds: Int
}
