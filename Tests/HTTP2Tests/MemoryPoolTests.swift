import CNghttp2
import Testing

@testable import HTTP2

@Suite("Memory for nghttp2")
struct MemoryPoolTests {
    @Test("What is given back is what is taken next, and is clean where that is asked for")
    func reused() throws {
        let pool = MemoryPool()
        defer { MemoryPool.destroy(pool) }
        let memory = pool.functions
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
}
