import Declaration
import Interception
import Testing

/// What holds for every edit, whichever they are.
@Suite struct EditCatalogueTests {
    @Test func everyEditStandsOnceAndInSomePhase() {
        let names = EditCatalogue.all.map { $0.name }
        #expect(Set(names).count == names.count && !names.isEmpty)
        for edit in EditCatalogue.all {
            #expect(edit is any RequestEdit.Type || edit is any ResponseEdit.Type, "\(edit)")
            #expect(edit.doc.hasSuffix("."), "\(edit.name)")
        }
        #expect(EditCatalogue.request.contains { $0.name == "set_url" })
        #expect(!EditCatalogue.response.contains { $0.name == "set_url" })
        #expect(!EditCatalogue.request.contains { $0.name == "set_status" })
        #expect(EditCatalogue.response(named: "set_status") == SetStatus.self)
        #expect(EditCatalogue.request(named: "set_stat") == nil)
    }

    /// A value that nobody could write is refused with a word, never taken for nothing.
    @Test func aReaderSaysWhatItCannotUse() {
        let findings = Findings(file: "usher.yaml")
        let reader = RuleReader(findings: findings, owner: "interceptor a")
        var fields = Fields(position: .start)
        fields.written = ["Connection", "X"]
        for name in ["Connection", "X"] {
            let value = Decoded(position: .start, written: "v", content: .text("v"))
            fields.all.append(.init(name: name, position: .start, value: value))
        }
        let edit = SetHeader(Decoded(position: .start, written: "", content: .fields(fields)), reader)
        #expect(edit.pairs == [Pair("Connection", "v"), Pair("X", "v")])
        #expect(findings.all.map(\.gravity) == [.error])
        #expect(findings.all.first?.message.contains("Usher writes it itself") == true)
    }
}
