import Foundation
import Synchronization
import TLSEngine
import Testing

/// The traces of a process, and the files that are left of them.
final class TraceBook: @unchecked Sendable {
    private static let environment = ProcessInfo.processInfo.environment
    private static let folder = environment["USHER_TRACE"].map { URL(filePath: $0) }
    /// Names of conversations, one a line; `*` for all.
    private static let wanted = Set((environment["USHER_TRACE_ONLY"] ?? "").split(separator: "\n").map(String.init))
    /// Somebody asks for traces.
    static var isOpen: Bool { folder != nil }
    private static let book = Mutex(TraceBook())

    private var traces: [Trace] = []
    private var numbers: [String: Int] = [:]

    /// A trace of the next conversation of the test that runs. Nil where nobody asks for one.
    /// - Parameter label: by which it is known among the test's; else it is numbered.
    static func begin(_ label: String? = nil) -> Trace? {
        guard isOpen else { return nil }
        let test = testName()
        return book.withLock { book in
            if book.traces.isEmpty {
                // OpenSSL, which makes the digests, cleans up when the process ends: it does so later than who comes after it
                _ = Digest.sha256([])
                atexit { TraceBook.end() }
            }
            let base = label.map { "\(test)/\(simple($0))" } ?? test
            let number = book.numbers[base, default: 0] + 1
            book.numbers[base] = number
            let name = label != nil && number == 1 ? base : "\(base)/\(number)"
            let trace = Trace(name, isFull: wanted.contains(name) || wanted.contains("*"))
            book.traces.append(trace)
            return trace
        }
    }

    private static func end() {
        guard let folder else { return }
        book.withLock { book in
            let digests = book.traces.map { "\($0.mark) \($0.name)\n" }.sorted().joined()
            do {
                try write(digests, folder.appending(path: "digests"))
                for trace in book.traces where trace.isFull {
                    try write(trace.text, folder.appending(path: "\(trace.name).txt"))
                }
            } catch {
                FileHandle.standardError.write(Data("the traces cannot be written: \(error)\n".utf8))
            }
        }
    }

    private static func write(_ text: String, _ file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    // MARK: names

    /// `PlaybookTests.play/step-up-get.play`
    private static func testName() -> String {
        guard let test = Test.current else { return "none" }
        let file = test.sourceLocation.fileName.prefix { $0 != "." }
        let name = "\(file).\(test.name.prefix { $0 != "(" })"
        return ([name] + arguments()).joined(separator: "/")
    }

    /// Those of the case that runs.
    private static func arguments() -> [String] {
        guard let running = Test.Case.current, running.isParameterized else { return [] }
        // the library tells them to its own tools alone
        return values(named: "value", in: running).map { simple($0 as? String ?? String(describingForTest: $0)) }
    }

    private static func values(named name: String, in value: Any) -> [Any] {
        Mirror(reflecting: value).children.flatMap { child in
            child.label == name ? [child.value] : values(named: name, in: child.value)
        }
    }

    /// A word that may name a file. What it leaves out of others' texts comes back as a digest, so that no two are one word.
    private static func simple(_ text: String) -> String {
        let parts = text.split { !$0.isASCII || !($0.isLetter || $0.isNumber || "._".contains($0)) }
        let word = parts.joined(separator: "-").prefix(60)
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-, ".contains($0)) }
        return isPlain && word.count < 60 ? String(word) : "\(word)-\(Trace.mark(Array(text.utf8)).prefix(6))"
    }
}
