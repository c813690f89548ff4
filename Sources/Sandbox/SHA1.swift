/// SHA-1 (FIPS 180-4) and HMAC over it, which one-time passwords are made of. It signs nothing else here.
enum SHA1 {
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        var padded = message
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) * 8
        for shift in stride(from: 56, through: 0, by: -8) { padded.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        for start in stride(from: 0, to: padded.count, by: 64) { mix(padded[start..<start + 64], into: &state) }
        return state.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
        var schedule = [UInt32](repeating: 0, count: 80)
        for (index, byte) in block.enumerated() { schedule[index / 4] = schedule[index / 4] << 8 | UInt32(byte) }
        for index in 16..<80 {
            let mixed = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
            schedule[index] = rotated(mixed, 1)
        }
        var words = state
        for index in 0..<80 {
            let choice: UInt32
            let constant: UInt32
            switch index {
            case ..<20: (choice, constant) = (words[1] & words[2] | ~words[1] & words[3], 0x5a82_7999)
            case ..<40: (choice, constant) = (words[1] ^ words[2] ^ words[3], 0x6ed9_eba1)
            case ..<60:
                choice = words[1] & words[2] | words[1] & words[3] | words[2] & words[3]
                constant = 0x8f1b_bcdc
            default: (choice, constant) = (words[1] ^ words[2] ^ words[3], 0xca62_c1d6)
            }
            let next = rotated(words[0], 5) &+ choice &+ words[4] &+ constant &+ schedule[index]
            words = [next, words[0], rotated(words[1], 30), words[2], words[3]]
        }
        for index in 0..<5 { state[index] = state[index] &+ words[index] }
    }

    static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? hash(key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        return hash(block.map { $0 ^ 0x5c } + hash(block.map { $0 ^ 0x36 } + message))
    }
}
