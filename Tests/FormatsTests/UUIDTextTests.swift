import Formats
import Testing

@Suite struct UUIDTextTests {
    @Test("Bytes of chance, but for the version and the variant")
    func random() {
        #expect(UUIDText.random([UInt8](repeating: 0xFF, count: 17)) == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        #expect(UUIDText.random([UInt8](repeating: 0, count: 16)) == "00000000-0000-4000-8000-000000000000")
        #expect(UUIDText.random(Array(0x10...0x1F)) == "10111213-1415-4617-9819-1a1b1c1d1e1f")
        #expect(UUIDText.random([1]) == "")
    }
}
