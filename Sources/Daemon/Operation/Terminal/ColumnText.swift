/// Rows with headings. Each column is as wide as its widest text.
struct ColumnText {
    private let headings: [String]
    private let rows: [[String]]

    /// - Parameter rows: each has a text for every heading.
    init(_ headings: [String], _ rows: [[String]]) {
        self.headings = headings
        self.rows = rows
    }

    func text(_ style: TextStyle) -> String {
        let widths = headings.indices.map { column in
            ([headings] + rows).map { $0[column].count }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            cells.indices.map { column in
                // the last column needs no padding
                let gap = column == cells.count - 1 ? 0 : widths[column] - cells[column].count + 2
                return cells[column] + String(repeating: " ", count: gap)
            }.joined()
        }
        return style.heading(line(headings)) + "\n" + rows.map { line($0) + "\n" }.joined()
    }
}
