import Foundation
import Testing

@testable import Operation

@Suite("What commands read")
struct InputTests {
    @Test("What cannot be looked at is not taken for missing")
    func missing() throws {
        let folder = try TemporaryFolder()
        let loop = folder.file("loop")
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        #expect(!Input.isMissing(loop) && !Input.isMissing("\(loop)/usher.yaml") && !Input.isMissing(folder.path))
        #expect(Input.isMissing(folder.file("none")) && Input.isMissing("/dev/null/none"))
    }
}
