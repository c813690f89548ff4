/// What a scraper makes of the text.
struct Scrape {
    let lines: [String]

    init(_ text: [UInt8]) {
        lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    var samples: [String] { lines.filter { !$0.hasPrefix("#") } }

    /// - Parameter series: a name with its labels as they are written.
    subscript(_ series: String) -> String? {
        samples.first { $0.hasPrefix(series + " ") }.map { String($0.dropFirst(series.utf8.count + 1)) }
    }

    /// The samples of one family.
    func of(_ name: String) -> [String] { samples.filter { $0.hasPrefix(name + "{") || $0.hasPrefix(name + " ") } }

    func sum(_ name: String) -> Int { of(name).compactMap { Int($0.split(separator: " ").last ?? "") }.reduce(0, +) }
}
