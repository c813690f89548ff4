/// Rows with headings. Each column is as wide as its widest text.
struct ColumnText {
    private let headings: [String]
    private let rows: [[String]]
    /// The largest widths of some columns. A longer text shifts the rest of its own row only.
    private let most: [Int: Int]

    /// - Parameter rows: each has a text for every heading.
    init(_ headings: [String], _ rows: [[String]], most: [Int: Int] = [:]) {
        self.headings = headings
        self.rows = rows
        self.most = most
    }

    func text(_ style: TextStyle) -> String {
        let widths = headings.indices.map { column in
            min(([headings] + rows).map { $0[column].count }.max() ?? 0, most[column] ?? .max)
        }
        func line(_ cells: [String]) -> String {
            // the last column needs no padding
            let padded = zip(cells, widths).dropLast().map { cell, width in cell.padded(to: width) + "  " }
            return padded.joined() + (cells.last ?? "")
        }
        return style.heading(line(headings)) + "\n" + rows.map { line($0) + "\n" }.joined()
    }
}

extension String {
    /// The text with spaces behind it.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// The text with spaces before it.
    func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
