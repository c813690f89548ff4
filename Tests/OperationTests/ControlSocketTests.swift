import Foundation
import Testing

@testable import Operation

@Suite("The control socket's file")
struct ControlSocketTests {
    @Test func itsOwnerAndGroupMayOpenIt() throws {
        let folder = try TemporaryFolder()
        let socket = try ControlSocket(at: folder.file("admin.sock"))
        #expect(try folder.mode("admin.sock") == 0o660)
        socket.remove()
        #expect(try folder.names == [])
    }

    /// Whose the folder is, decides by the next moment what its path leads to.
    @Test(.enabled(if: geteuid() == 0))
    func anothersFolderHoldsNone() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("anothers")
        #expect(mkdir(path, 0o700) == 0 && chown(path, 65534, 65534) == 0)
        do throws(FileError) {
            _ = try ControlSocket(at: path + "/admin.sock")
            Issue.record("made")
        } catch {
            #expect(error.description.contains("belongs to user 65534"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    }
}
