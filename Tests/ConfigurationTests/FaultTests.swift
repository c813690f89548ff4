import Configuration
import Foundation
import Testing

/// Every `bad/NAME.yaml` yields exactly the lines of `bad/NAME.expected`.
@Suite struct FaultTests {
    private static let folder = testFolder.appending(path: "bad")

    static let names: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (files ?? []).filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
    }()

    private static let environment = [
        "SET": "s3cret", "LONG": "thirty-two bytes or more make a key", "BROKEN": "a\nb", "REGEX": "s3cret(",
        "SECRET": "s3cret", "CREDENTIALS_DIRECTORY": "/run/c",
    ]
    private static let files = [
        "/run/c/token": FileContent(bytes: Array("s3cret\n".utf8)),
        "open.txt": FileContent(bytes: Array("s3cret".utf8), isWorldReadable: true),
        "users": FileContent(
            bytes: Array(
                """
                # s3cret
                alice:$apr1$s3cret$hunter2
                bob:{SHA}s3cret
                carol:hunter2

                hunter2
                dave:$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y
                dave:$2y$20$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y
                dave:$2y$10$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y
                """.utf8)),
        "binary": FileContent(bytes: [0xFF, 0xFE]),
        "binary.P12": FileContent(bytes: [0x30, 0x82, 0xFF, 0xFE]),
        "open.pfx": FileContent(bytes: [0x30, 0x82, 0xFF, 0xFE], isWorldReadable: true),
    ]

    @Test func thereAreSome() { #expect(Self.names.count > 15) }

    @Test(arguments: names) func diagnosesExactly(_ name: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: "\(name).yaml"), encoding: .utf8)
        let expected = try String(contentsOf: Self.folder.appending(path: "\(name).expected"), encoding: .utf8)
        let found = diagnosis(text, file: "\(name).yaml", environment: Self.environment, files: Self.files)
        #expect(found == expected, "found instead:\n\(found)")
        #expect(!found.contains("s3cret") && !found.contains("hunter2"))
        #expect(found.contains(": error: "))
    }
}
