import Foundation
import Journal
import Testing

@testable import Spill

/// Flows in a database file.
struct FlowArchiveTests {
    /// A file for one test, gone with it.
    private final class Place {
        let folder: URL
        var path: String { folder.appending(path: "journal.db").path() }

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "usher-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: path))
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func open() throws -> FlowArchive {
            guard case .open(let archive) = try FlowArchive.open(path) else { throw CocoaError(.fileReadCorruptFile) }
            return archive
        }
    }

    private static let start = 1_700_000_000_000

    private static func flow(_ sequence: Int, body: Int = 0, parent: Int = 0) -> PackedFlow {
        var packer = FlowPacker()
        packer.set(.id, 0x1000 + sequence)
        packer.set(.sequence, sequence)
        packer.set(.began, start + sequence * 1000)
        packer.set(.parent, parent)
        packer.set(.method, "GET")
        var random = SystemRandomNumberGenerator()
        // what cannot be pressed
        packer.set(.responseBody, (0..<body).map { _ in UInt8.random(in: 0...255, using: &random) })
        guard let flow = PackedFlow(packer.finish()) else { preconditionFailure("a flow is one") }
        return flow
    }

    private static func counters(_ sequence: Int, sessions: UInt32 = 0) -> JournalCounters {
        var counters = JournalCounters()
        counters.sequence = sequence
        counters.aliases[Int(SecretKind.session.rawValue)] = sessions
        return counters
    }

    private static func sequences(_ archive: FlowArchive, before: Int = .max) throws -> [Int] {
        var found: [Int] = []
        try archive.newestFirst(before: before) {
            found.append($0[.sequence])
            return true
        }
        return found
    }

    @Test("What was written is there when the file is opened again, and numbers with it")
    func reopening() throws {
        let place = try Place()
        let flow = Self.flow(2, body: 500)
        do {
            let archive = try place.open()
            #expect(try archive.counters() == JournalCounters() && archive.count == 0)
            try archive.append([Self.flow(1), flow], Self.counters(2, sessions: 7))
        }
        let archive = try place.open()
        #expect(try archive.counters() == Self.counters(2, sessions: 7))
        #expect(archive.count == 2)
        #expect(try Self.sequences(archive) == [2, 1])
        var found: PackedFlow?
        try archive.oldestFirst(after: 1) {
            found = $0
            return true
        }
        #expect(found?.text(.method) == "GET" && found.map { Array($0[.responseBody]) } == Array(flow[.responseBody]))
    }

    @Test("Two runs give the same ids, and each flow has one of its own all the same")
    func runs() throws {
        let place = try Place()
        do {
            let archive = try place.open()
            try archive.append([Self.flow(1), Self.flow(2, parent: 0x1001)], Self.counters(2))
        }
        let archive = try place.open()
        func named(_ sequence: Int, id: Int, parent: Int = 0) -> PackedFlow {
            Self.flow(sequence).renamed(id: id, parent: parent)
        }
        try archive.append([named(3, id: 0x1001), named(4, id: 0x1005, parent: 0x1001)], Self.counters(4))
        var ids: [String] = []
        try archive.oldestFirst(after: 0) {
            ids.append(FlowID($0.id).description)
            return true
        }
        #expect(ids == ["1000000001001", "1000000001002", "1001", "1005"])
        func found(_ text: String) throws -> Int? {
            if case .one(let flow) = try archive.find(text) { flow[.sequence] } else { nil }
        }
        #expect(try found("1001") == 3 && found("1000000001001") == 1 && found("1002") == 2 && found("1005") == 4)
        #expect(try archive.calls(of: 0x1001).map { $0[.sequence] } == [4])
        let older = try archive.calls(of: 1 << 48 | 0x1001)
        #expect(older.map { $0[.sequence] } == [2] && older.first?[.parent] == 1 << 48 | 0x1001)
        // the same process, once the disk is there again
        guard case .open(let again) = try FlowArchive.open(place.path, run: archive.runNumber) else {
            return #expect(Bool(false))
        }
        #expect(try again.calls(of: 0x1001).map { $0[.sequence] } == [4])
    }

    @Test("The same flow written twice is there once")
    func twice() throws {
        let place = try Place()
        let archive = try place.open()
        try archive.append([Self.flow(1)], Self.counters(1))
        try archive.append([Self.flow(1), Self.flow(2)], Self.counters(2))
        #expect(try archive.count == 2 && Self.sequences(archive) == [2, 1])
    }

    @Test("A look goes in both directions, from where it is told, and ends where it is told")
    func looking() throws {
        let place = try Place()
        let archive = try place.open()
        try archive.append((1...10).map { Self.flow($0) }, Self.counters(10))
        #expect(try Self.sequences(archive, before: 4) == [3, 2, 1])
        var found: [Int] = []
        try archive.oldestFirst(after: 7) {
            found.append($0[.sequence])
            return found.count < 2
        }
        #expect(found == [8, 9])
    }

    @Test("A flow is found by its id, by a part that fits it alone, and by its parent")
    func finding() throws {
        let place = try Place()
        let archive = try place.open()
        try archive.append([Self.flow(1), Self.flow(0x11, parent: 0x1001), Self.flow(0x12)], Self.counters(0x12))
        func found(_ text: String) throws -> [Int] {
            switch try archive.find(text) {
            case .none: []
            case .one(let flow): [flow[.sequence]]
            case .several(let ids): ids.map { Int($0.number) }
            }
        }
        #expect(try found("1001") == [1])
        #expect(try found("02") == [] && found("x") == [] && found("12") == [0x12])
        #expect(try found("101").sorted() == [0x1011, 0x1012])
        #expect(try archive.calls(of: 0x1001).map { $0[.sequence] } == [0x11])
        #expect(try archive.calls(of: 0).isEmpty)
    }

    @Test("What is too old goes, the oldest first, in slices")
    func age() throws {
        let place = try Place()
        let archive = try place.open()
        try archive.append((1...1000).map { Self.flow($0) }, Self.counters(1000))
        var limits = JournalStore.DiskLimits()
        limits.age = 100_000
        let now = Self.start + 1_000_000
        #expect(try archive.retain(limits, now: now))
        #expect(archive.count == 1000 - 256, "one slice takes so many")
        var slices = 1
        while try archive.retain(limits, now: now) { slices += 1 }
        #expect(try Self.sequences(archive).last == 900 && archive.count == 101)
        #expect(slices < 10)
    }

    @Test("What is too much goes, and the file gives its room back")
    func size() throws {
        let place = try Place()
        let archive = try place.open()
        for batch in 0..<10 {
            try archive.append((1...50).map { Self.flow(batch * 50 + $0, body: 10_000) }, Self.counters(500))
        }
        var limits = JournalStore.DiskLimits()
        limits.age = .max / 2
        limits.size = 2 << 20
        #expect(try archive.size() > limits.size)
        while try archive.retain(limits, now: Self.start) {}
        #expect(try archive.size() <= limits.size && archive.size() > limits.size / 2)
        let left = try Self.sequences(archive)
        #expect(left.first == 500 && left.count == archive.count && left == Array((501 - left.count...500).reversed()))
        try archive.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        let bytes = try FileManager.default.attributesOfItem(atPath: place.path)[.size] as? Int
        #expect(try #require(bytes) <= limits.size + (2 << 20), "pages that are free stay for what comes, some of them")
    }

    @Test("A file of another version, or of another program, is not read")
    func foreign() throws {
        for change in ["PRAGMA user_version = 1", "PRAGMA application_id = 5"] {
            let place = try Place()
            try place.open().database.run(change)
            guard case .foreign = try FlowArchive.open(place.path) else {
                Issue.record("\(change) went unseen")
                continue
            }
        }
        let place = try Place()
        try SQLiteDatabase(place.path).run("CREATE TABLE other (x)")
        guard case .foreign = try FlowArchive.open(place.path) else {
            return #expect(Bool(false), "a table of somebody else's went unseen")
        }
    }

    @Test("What is no database is known as damage")
    func damage() throws {
        let place = try Place()
        try Data(repeating: 0x41, count: 9000).write(to: URL(filePath: place.path))
        do throws(SQLiteFault) {
            _ = try FlowArchive.open(place.path)
            Issue.record("it was opened")
        } catch {
            #expect(error.isDamage && !error.isFull)
        }
    }

    @Test("Damage in the middle is seen when somebody reads, and noted")
    func damageInside() throws {
        let place = try Place()
        try place.open().append((1...200).map { Self.flow($0, body: 3000) }, Self.counters(200))
        var bytes = try Data(contentsOf: URL(filePath: place.path))
        for index in 8192..<bytes.count { bytes[index] = 0xA5 }
        try bytes.write(to: URL(filePath: place.path))
        // counting what is there reads some of it already
        guard let archive = try? place.open() else { return }
        #expect(throws: SQLiteFault.self) { try archive.newestFirst(before: .max) { _ in true } }
        #expect(archive.damage?.isDamage == true)
    }

    @Test("A row that is no flow is passed over")
    func rows() throws {
        let place = try Place()
        let archive = try place.open()
        try archive.append([Self.flow(1), Self.flow(3)], Self.counters(3))
        try archive.database.run("INSERT INTO flows VALUES (2, 0, 1, 2, 0, x'00FF'), (4, 0, 1, 4, 0, x'28B52FFD00')")
        #expect(try Self.sequences(archive) == [3, 1])
    }

    @Test("A file that has no room for more says so, keeps what it has, and goes on")
    func full() throws {
        let place = try Place()
        let archive = try place.open()
        try archive.append([Self.flow(1)], Self.counters(1))
        try archive.database.run("PRAGMA max_page_count = 20")
        do throws(SQLiteFault) {
            try archive.append((2...50).map { Self.flow($0, body: 5000) }, Self.counters(50))
            Issue.record("it took them")
        } catch {
            #expect(error.isFull && !error.isDamage)
        }
        #expect(try Self.sequences(archive) == [1] && archive.count == 1)
        #expect(try archive.counters() == Self.counters(1))
        try archive.database.run("PRAGMA max_page_count = 100000")
        try archive.append([Self.flow(2, body: 5000)], Self.counters(2))
        #expect(try Self.sequences(archive) == [2, 1])
    }
}
