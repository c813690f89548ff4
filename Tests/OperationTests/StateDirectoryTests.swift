import Foundation
import Operation
import Testing

@Suite("Where what has to stay is kept")
struct StateDirectoryTests {
    @Test(arguments: [
        (["STATE_DIRECTORY": "/var/lib/usher", "XDG_STATE_HOME": "/x", "HOME": "/y"], "/var/lib/usher"),
        (["STATE_DIRECTORY": "/a:/b"], "/a"),
        (["STATE_DIRECTORY": "/a//"], "/a"),
        (["STATE_DIRECTORY": "", "XDG_STATE_HOME": "/x"], "/x/usher"),
        (["XDG_STATE_HOME": "relative", "HOME": "/y"], "/y/.local/state/usher"),
        (["XDG_STATE_HOME": "", "HOME": "/y"], "/y/.local/state/usher"),
    ])
    func place(_ environment: [String: String], _ path: String) {
        #expect(StateDirectory(environment).path == path)
    }

    @Test func aRelativeOneBeginsHere() {
        let path = StateDirectory(["STATE_DIRECTORY": "state"]).path
        #expect(path.hasPrefix("/") && path.hasSuffix("/state"))
    }

    @Test func withoutAHomeTheAccountsIsTaken() {
        let path = StateDirectory([:]).path
        #expect(path.hasPrefix("/") && path.hasSuffix("/usher"))
    }

    @Test func itIsMadeForItsOwnerAlone() throws {
        let folder = try TemporaryFolder()
        let state = StateDirectory(path: folder.file("a/b/usher"))
        try state.make()
        try state.make()
        #expect(try folder.mode("a/b/usher") == 0o700)
    }

    @Test func bundlesGoWhereTheyCanBeWritten() throws {
        let folder = try TemporaryFolder()
        let state = StateDirectory(path: folder.path)
        #expect(state.forBundles(["RUNTIME_DIRECTORY": "/run/usher"]) == state)
        let none = StateDirectory(path: folder.file("none"))
        #expect(none.forBundles(["RUNTIME_DIRECTORY": "/run/usher:/b"]).path == "/run/usher")
        #expect(none.forBundles(["XDG_RUNTIME_DIR": "/run/user/1"]).path == "/run/user/1/usher")
        #expect(none.forBundles([:]) == none)
    }

    @Test func whatIsNoFolderIsNotTaken() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", "")
        for path in ["file", "file/below"] {
            let error = #expect(throws: FileError.self) { try StateDirectory(path: folder.file(path)).make() }
            #expect(error?.description.contains("STATE_DIRECTORY") == true)
        }
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o1777])
    func whatOthersMayChangeIsNotTaken(_ mode: Int) throws {
        let folder = try TemporaryFolder()
        let state = StateDirectory(path: folder.file("open"))
        try state.make()
        try folder.setMode("open", mode)
        let error = #expect(throws: FileError.self) { try state.make() }
        #expect(error?.description.contains("chmod go-w") == true)
    }
}
