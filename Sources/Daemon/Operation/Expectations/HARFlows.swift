import Authorization
public import Configuration
import Formats
import HTTPCodec
import Interception
public import Journal
import ProxyCore

/// Flows made of an HTTP Archive, to be judged.
public struct HARFlows {
    /// In the order of their ends.
    public let flows: [PackedFlow]

    /// - Parameters:
    ///   - text: an archive of Usher, or of a browser or another proxy. Its secrets are replaced by aliases.
    ///   - snapshot: names the AMs; nil to find AM by its paths.
    public init(_ text: [UInt8], _ snapshot: Snapshot?) throws(FirstConfiguration.Fault) {
        guard let log = (try? JSONValue(parsing: text))?["log"], let entries = log["entries"]?.items else {
            throw FirstConfiguration.Fault(description: "not a HAR: it has no log.entries")
        }
        let isRecorded = log["creator"]?["name"]?.text == "Usher"
        if isRecorded, entries.contains(where: { !AliasList.of($0.serialized.utf8).isEmpty }) {
            self.init(entries)
        } else {
            self.init(entries, HARClassifier(text, snapshot))
        }
    }

    /// - Parameter entries: those of an archive of Usher, whose secrets are aliases already.
    init(_ entries: [JSONValue]) {
        flows = Self.sorted(
            entries.enumerated().compactMap { place, entry in
                guard let head = Self.head(entry, isRecorded: true) else { return nil }
                var packer = FlowPacker()
                Self.pack(entry, head, place, nil, &packer)
                return PackedFlow(packer.finish())
            })
    }

    private init(_ entries: [JSONValue], _ classifier: HARClassifier) {
        var batch = FlowBatch()
        for (place, entry) in entries.enumerated() {
            guard let head = Self.head(entry, isRecorded: false) else { continue }
            var packer = batch.begin([])
            Self.pack(entry, head, place, classifier, &packer)
            batch.end(packer)
        }
        var settings = JournalStore.Settings(memory: 1 << 30, bodies: 64 << 20)
        settings.sessionCookies = classifier.cookies
        var store = JournalStore(settings) { _ in ("", "") }
        flows = Self.sorted(store.take(batch, offset: 0))
    }

    private static func sorted(_ flows: [PackedFlow]) -> [PackedFlow] {
        flows.sorted { $0[.began] + $0[.duration] < $1[.began] + $1[.duration] }
    }

    // MARK: entries

    /// - Parameter isRecorded: true if # in the URL begins the number of an alias.
    /// - Returns: nil if it is no request over HTTP.
    private static func head(_ entry: JSONValue, isRecorded: Bool) -> RequestHead? {
        let asked = entry["request"]
        guard let url = asked?["url"]?.text else { return nil }
        let written = isRecorded ? url.replacing("#", with: "%23") : HARFile.withoutFragment(url)
        var head = try? RequestHead(method: asked?["method"]?.text ?? "GET", url: written)
        for field in fields(asked) where !ASCII.equal(field.name, "host") { head?.fields.add(field.name, field.value) }
        return head
    }

    private static func fields(_ message: JSONValue?) -> [(name: String, value: String)] {
        HARFile.fields(message?["headers"]).filter { FieldSyntax.isName($0.name) && FieldSyntax.isValue($0.value) }
    }

    /// - Parameters:
    ///   - place: its number, for the id and the time of an entry that has none.
    ///   - classifier: nil for an archive of Usher.
    private static func pack(
        _ entry: JSONValue, _ head: RequestHead, _ place: Int, _ classifier: HARClassifier?,
        _ packer: inout FlowPacker
    ) {
        let (asked, answered) = (entry["request"], entry["response"])
        let body = posted(asked?["postData"])
        let content = HARFile.content(answered?["content"]) ?? []
        packer.set(.id, id(entry["_flow"]) ?? place + 1)
        packer.set(.parent, id(entry["_parent"]) ?? 0)
        packer.set(.began, entry["startedDateTime"]?.text.flatMap(FlowRecord.time) ?? place + 1)
        packer.set(.duration, entry["time"].flatMap(milliseconds) ?? 0)
        packer.set(.status, answered?["status"]?.integer ?? 0)
        packer.set(.port, Int(head.target.port))
        packer.set(.scheme, head.target.scheme == .https ? 2 : 1)
        packer.set(.requestBytes, body.count)
        packer.set(.responseBytes, content.count)
        packer.set(.attempts, 1)
        var flags: FlowFlags = entry["_attempt"]?.isTrue == true ? .attempt : []
        // an archive of Usher says of a body what it lacks
        if asked?["postData"]?["comment"] != nil { flags.insert(.requestBodyCut) }
        if answered?["content"]?["comment"] != nil { flags.insert(.responseBodyCut) }
        packer.set(.flags, flags.rawValue)
        let found = classifier?.facts(head, body)
        for (name, part) in HAREntry.facts {
            if let text = entry[name]?.text ?? found?[part] { packer.set(part, text) }
        }
        if let error = answered?["_error"]?.text { packer.set(.proxyError, error) }
        packer.set(.method, head.methodText)
        packer.set(.authority, head.host)
        let target = head.fields.text(head.target.pathAndQuery)
        packer.set(.target, classifier == nil ? target.replacing("%23", with: "#") : target)
        packer.set(.request) { lines(fields(asked), to: &$0) }
        packer.set(.requestBody, body)
        packer.set(.response) { lines(fields(answered), to: &$0) }
        packer.set(.responseBody, content)
    }

    private static func id(_ text: JSONValue?) -> Int? {
        text?.text.flatMap { FlowID($0) }.map { Int(truncatingIfNeeded: $0.number) }
    }

    private static func posted(_ data: JSONValue?) -> [UInt8] {
        let text = data?["text"]?.text ?? ""
        if data?["_encoding"]?.text == "base64" { return Base64.decode(text) ?? [] }
        guard text.isEmpty, let pairs = data?["params"]?.items else { return Array(text.utf8) }
        var form = QueryText("")
        for pair in pairs { form.add(pair["name"]?.text ?? "", pair["value"]?.text ?? "") }
        return Array(form.text.utf8)
    }

    /// Browsers write fractions of milliseconds.
    private static func milliseconds(_ time: JSONValue) -> Int? {
        if case .number(let text) = time { Double(text).flatMap { Int(exactly: $0.rounded()) } } else { nil }
    }

    private static func lines(_ fields: [(name: String, value: String)], to out: inout [UInt8]) {
        for field in fields { out += "\(field.name): \(field.value)\r\n".utf8 }
    }
}

/// Finds out what the requests of an archive mean to AM.
private struct HARClassifier {
    private let classifier: Classifier
    let cookies: [String]

    init(_ text: [UInt8], _ snapshot: Snapshot?) {
        var servers = snapshot?.settings.servers ?? []
        if servers.isEmpty, let first = try? FirstConfiguration(har: text),
            let head = try? RequestHead(method: "GET", url: first.server)
        {
            var server = AuthorizationServer(url: first.server, host: head.host)
            server.cookie = first.cookie
            servers = [server]
        }
        cookies = servers.map(\.cookie)
        classifier = Classifier(servers: servers, definitions: snapshot?.settings.actions ?? [])
    }

    func facts(_ head: RequestHead, _ body: [UInt8]) -> [FlowPart: String] {
        let found = classifier.classify(head, body: body, complete: true, flows: nil)
        var facts: [FlowPart: String] = [:]
        facts[.action] = found.action?.rawValue
        facts[.realm] = found.realm
        facts[.tree] = found.payload?.tree
        facts[.type] = found.payload?.type
        return facts
    }
}
