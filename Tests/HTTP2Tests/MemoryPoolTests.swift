import CNghttp2
import Glibc
import Testing

@testable import HTTP2

@Suite("Memory for nghttp2")
struct MemoryPoolTests {
    @Test("What is given back is what is taken next, and is clean where that is asked for")
    func reused() throws {
        let pool = MemoryPool()
        defer { MemoryPool.destroy(pool) }
        let memory = pool.functions
        // the first of this size is no small piece
        let table = try #require(memory.malloc(1_024, memory.mem_user_data))
        #expect(!isResident(table))
        defer { memory.free(table, memory.mem_user_data) }
        for size in [1, 64, 65, 500, 1_024] {
            let piece = try #require(memory.malloc(size, memory.mem_user_data))
            piece.initializeMemory(as: UInt8.self, repeating: 0xAA, count: size)
            memory.free(piece, memory.mem_user_data)
            let again = try #require(memory.calloc(1, size, memory.mem_user_data))
            #expect(again == piece && (0..<size).allSatisfy { again.load(fromByteOffset: $0, as: UInt8.self) == 0 })
            memory.free(again, memory.mem_user_data)
        }
        memory.free(nil, memory.mem_user_data)
        #expect(memory.calloc(Int.max, 2, memory.mem_user_data) == nil)
        #expect(memory.malloc(Int.max, memory.mem_user_data) == nil)
    }

    @Test("A piece that grows keeps what is in it")
    func grown() throws {
        let pool = MemoryPool()
        defer { MemoryPool.destroy(pool) }
        let memory = pool.functions
        var piece = try #require(memory.realloc(nil, 10, memory.mem_user_data))
        for index in 0..<10 { piece.storeBytes(of: UInt8(index), toByteOffset: index, as: UInt8.self) }
        for size in [20, 200, 2_000, 20_000] {
            piece = try #require(memory.realloc(piece, size, memory.mem_user_data))
            #expect((0..<10).allSatisfy { piece.load(fromByteOffset: $0, as: UInt8.self) == $0 })
        }
        memory.free(piece, memory.mem_user_data)
    }

    @Test("Of many pieces that lie unused, a few are kept")
    func bounded() throws {
        let pool = MemoryPool()
        defer { MemoryPool.destroy(pool) }
        let memory = pool.functions
        let pieces = try (0..<100).map { _ in try #require(memory.malloc(1_000, memory.mem_user_data)) }
        #expect(Set(pieces).count == 100)
        for piece in pieces { memory.free(piece, memory.mem_user_data) }
        #expect(pool.kept == 4 << 10)
    }

    @Test("At rest nothing lies unused, and large pieces take no memory where nothing of use is in them")
    func rests() throws {
        let pool = MemoryPool()
        defer { MemoryPool.destroy(pool) }
        let memory = pool.functions
        let table = try #require(memory.calloc(256, 16, memory.mem_user_data))
        let frames = try #require(memory.realloc(nil, 16_394, memory.mem_user_data))
        let small = try #require(memory.malloc(100, memory.mem_user_data))
        table.storeBytes(of: 1, toByteOffset: 4_088, as: UInt64.self)
        frames.initializeMemory(as: UInt8.self, repeating: 0xAA, count: 16_394)
        memory.free(small, memory.mem_user_data)
        #expect(pool.kept == 128 && isResident(table) && isResident(frames))
        pool.rest(scratch: nil)
        #expect(pool.kept == 0 && table.load(fromByteOffset: 4_088, as: UInt64.self) == 1)
        #expect(frames.load(fromByteOffset: 16_393, as: UInt8.self) == 0xAA)
        table.storeBytes(of: 0, toByteOffset: 4_088, as: UInt64.self)
        pool.rest(scratch: frames + 65)
        #expect(!isResident(table) && !isResident(frames))
        // they are where they were, and as good as before
        #expect(table.load(fromByteOffset: 4_088, as: UInt64.self) == 0)
        frames.initializeMemory(as: UInt8.self, repeating: 0xBB, count: 16_394)
        let larger = try #require(memory.realloc(frames, 50_000, memory.mem_user_data))
        #expect((0..<16_394).allSatisfy { larger.load(fromByteOffset: $0, as: UInt8.self) == 0xBB })
        for piece in [table, larger] { memory.free(piece, memory.mem_user_data) }
    }

    @Test("There may be more large pieces than have pages of their own")
    func manyLarge() throws {
        let pool = MemoryPool()
        defer { MemoryPool.destroy(pool) }
        let memory = pool.functions
        for _ in 0..<2 {
            let pieces = try (0..<10).map { number in
                let piece = try #require(memory.malloc(5_000 + number, memory.mem_user_data))
                piece.initializeMemory(as: UInt8.self, repeating: UInt8(number + 1), count: 5_000 + number)
                return piece
            }
            pool.rest(scratch: nil)
            for (number, piece) in pieces.enumerated() {
                let bytes = UnsafeRawBufferPointer(start: piece, count: 5_000 + number)
                #expect(bytes.allSatisfy { $0 == number + 1 })
                memory.free(piece, memory.mem_user_data)
            }
        }
    }

    /// Memory stands behind the first of its pages.
    private func isResident(_ piece: UnsafeMutableRawPointer) -> Bool {
        var pages: UInt8 = 0
        return mincore(piece, 1, &pages) == 0 && pages & 1 == 1
    }
}
