import ContentCoding
import Formats
import Foundation
import HTTPCodec
import Testing

/// Bodies that other programs made, and what stands in them.
struct CodingVectorTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        let json: JSONValue

        var testDescription: String { json["name"]?.text ?? "?" }
        func bytes(_ key: String) -> [UInt8]? { json[key]?.text.flatMap { Base64.decode($0) } }
    }

    static let vectors: [Vector] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors/codings.json")
        guard let data = try? Data(contentsOf: file), let json = try? JSONValue(parsing: Array(data)) else { return [] }
        return (json.items ?? []).map(Vector.init)
    }()

    @Test func theFileIsThere() { #expect(Self.vectors.count > 40) }

    @Test(arguments: vectors) func vector(_ vector: Vector) throws {
        let body = try #require(vector.bytes("body"))
        let plain = vector.bytes("plain")
        do throws(CodingFault) {
            let decoded = try BodyDecoder.decode(
                body, list(vector.json["codings"]?.text ?? ""), CodingLimits(size: 8 << 20))
            #expect(plain != nil && decoded == plain)
        } catch {
            #expect(String("\(error)".prefix { $0 != "(" }) == vector.json["fault"]?.text)
        }
    }
}

func list(_ value: String) throws(CodingFault) -> [Coding] {
    var fields = FieldTable()
    fields.add("Content-Encoding", value)
    return try Coding.list(in: fields)
}

struct CodingTests {
    static let texts: [[UInt8]] = [
        [], Array("a".utf8), Array(String(repeating: "{\"a\": [1, 2, 3]}\n", count: 20_000).utf8),
        (0..<100_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 11) },
    ]

    @Test("What is put into a coding comes out of it the same", arguments: Coding.allCases)
    func roundTrip(_ coding: Coding) throws {
        for text in Self.texts {
            let encoded = try BodyEncoder.encode(text, [coding])
            #expect(!encoded.isEmpty)
            #expect(try BodyDecoder.decode(encoded, [coding], CodingLimits(size: 4 << 20, ratio: 1_000_000)) == text)
        }
    }

    @Test("Codings are taken off in the order opposite to that in which they were put on")
    func stacked() throws {
        let text = Self.texts[2]
        let encoded = try BodyEncoder.encode(text, [.gzip, .brotli, .zstd])
        #expect(encoded.starts(with: [0x28, 0xB5, 0x2F, 0xFD]))
        let limits = CodingLimits(size: 4 << 20, ratio: 4000)
        #expect(try BodyDecoder.decode(encoded, [.gzip, .brotli, .zstd], limits) == text)
        #expect(throws: CodingFault.self) { try BodyDecoder.decode(encoded, [.zstd, .brotli, .gzip], limits) }
        #expect(throws: CodingFault.tooMany) {
            try BodyDecoder.decode(encoded, [.gzip, .gzip, .gzip, .gzip], limits)
        }
    }

    @Test("Nothing larger than the limit is made, and the limit itself is", arguments: Coding.allCases)
    func size(_ coding: Coding) throws {
        let text = Self.texts[3]
        let encoded = try BodyEncoder.encode(text, [coding])
        #expect(try BodyDecoder.decode(encoded, [coding], CodingLimits(size: text.count)) == text)
        #expect(throws: CodingFault.tooLarge(limit: text.count - 1)) {
            try BodyDecoder.decode(encoded, [coding], CodingLimits(size: text.count - 1))
        }
    }

    @Test("A body that unfolds too far is refused before it has", arguments: Coding.allCases)
    func ratio(_ coding: Coding) throws {
        let text = [UInt8](repeating: 0x61, count: 1 << 20)
        let encoded = try BodyEncoder.encode(text, [coding])
        let times = text.count / encoded.count
        #expect(throws: CodingFault.tooDense(ratio: times - 1)) {
            try BodyDecoder.decode(encoded, [coding], CodingLimits(size: 4 << 20, ratio: times - 1))
        }
        #expect(try BodyDecoder.decode(encoded, [coding], CodingLimits(size: 4 << 20, ratio: times + 1)) == text)
        // what is small unfolds as far as it likes
        let small = [UInt8](repeating: 0x61, count: 64 << 10)
        #expect(
            try BodyDecoder.decode(
                try BodyEncoder.encode(small, [coding]), [coding], CodingLimits(size: 4 << 20, ratio: 1))
                == small)
    }

    @Test("The ratio is that of all codings together")
    func stackedRatio() throws {
        let text = [UInt8](repeating: 0x61, count: 4 << 20)
        let encoded = try BodyEncoder.encode(text, [.gzip, .gzip])
        #expect(throws: CodingFault.tooDense(ratio: 200)) {
            try BodyDecoder.decode(encoded, [.gzip, .gzip], CodingLimits(size: 8 << 20))
        }
    }

    @Test("Every cut of a body is noticed", arguments: Coding.allCases)
    func cuts(_ coding: Coding) throws {
        let text = Array("a text that is long enough to be cut into many pieces".utf8)
        let encoded = try BodyEncoder.encode(text, [coding])
        for count in 1..<encoded.count {
            #expect(throws: CodingFault.truncated(coding)) {
                try BodyDecoder.decode(Array(encoded[..<count]), [coding], CodingLimits(size: 1000))
            }
        }
    }

    @Test("Several fields are one list, and what is no coding is left out")
    func fields() throws {
        var fields = FieldTable()
        #expect(try Coding.list(in: fields) == [])
        fields.add("content-encoding", " gzip ,, identity")
        fields.add("Content-Encoding", "BR")
        #expect(try Coding.list(in: fields) == [.gzip, .brotli])
        #expect(throws: CodingFault.unknown("gzip br")) { try list("gzip br") }
    }

    @Test(
        "Every fault says what is wrong in words",
        arguments: [
            CodingFault.unknown("lzma"), .tooMany, .truncated(.gzip), .corrupt(.deflate), .trailing(.brotli),
            .tooManyMembers(.gzip), .tooLarge(limit: 7), .tooDense(ratio: 7), .memory(.zstd),
        ])
    func words(_ fault: CodingFault) {
        #expect(fault.explanation.split(separator: " ").count > 2)
    }
}
