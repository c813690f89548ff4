import Configuration
import Formats

/// Parses a curl command line, so that a failing call can be pasted into `usher explain`.
struct CurlCommand {
    typealias Fault = Explanation.Fault

    private var method: String?
    private var url: String?
    private var headers: [(name: String, value: String)] = []
    /// Lower-case names of header fields that curl is told to omit.
    private var removed: Set<String> = []
    private var cookies: [String] = []
    /// Nil without a data option; empty data is sent.
    private var data: String?
    private var dataInQuery = false
    private var isJSON = false
    private var head = false
    private var wantsHTTP2 = false

    /// Options with a value that do not affect the request.
    private static let ignoredWithValue: Set<String> = [
        "-x", "--proxy", "-o", "--output", "-w", "--write-out", "-m", "--max-time", "--connect-timeout", "--cacert",
        "--resolve", "-c", "--cookie-jar", "--retry", "-E", "--cert", "--key", "--noproxy", "-U", "--proxy-user",
    ]

    /// The request that curl would send.
    struct Request {
        var method: String
        var url: String
        /// A header that is to be omitted has no value.
        var headers: [(name: String, value: String?)]
        /// Nil if there is no body; it may be empty.
        var body: String?
        /// True if curl is told to use HTTP/2.
        var wantsHTTP2: Bool
    }

    /// - Throws: `Fault` with the option or position that is not understood.
    static func request(_ text: String) throws(Fault) -> Request {
        var command = CurlCommand()
        var words = try ShellWords.split(text)
        guard words.first == "curl" else { throw Fault(description: "the command does not begin with curl") }
        words.removeFirst()
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            guard word.hasPrefix("-"), word != "-" else {
                guard command.url == nil else { throw Fault(description: "there are two URLs: \(word) is the second") }
                command.url = word
                continue
            }
            for (option, inline) in expand(word) {
                if try command.flag(option) { continue }
                let value: String
                if let inline {
                    value = inline
                } else {
                    guard index < words.count else { throw Fault(description: "\(option) needs a value") }
                    value = words[index]
                    index += 1
                }
                try command.take(option, value)
            }
        }
        return try command.finished()
    }

    /// Splits `-sXPOST` into `-s` and `-X POST`. It also accepts `--header=…`, which curl does not.
    private static func expand(_ word: String) -> [(String, String?)] {
        if word.hasPrefix("--") {
            guard let equals = word.firstIndex(of: "=") else { return [(word, nil)] }
            return [(String(word[..<equals]), String(word[word.index(after: equals)...]))]
        }
        var options: [(String, String?)] = []
        var rest = word.dropFirst()
        while let letter = rest.popFirst() {
            let option = "-\(letter)"
            if "sSkvLiIfGgnNpqa#046".contains(letter) {
                options.append((option, nil))
            } else {
                options.append((option, rest.isEmpty ? nil : String(rest)))
                break
            }
        }
        return options
    }

    private mutating func flag(_ option: String) throws(Fault) -> Bool {
        switch option {
        case "-I", "--head": head = true
        case "-G", "--get": dataInQuery = true
        // the last of these options counts
        case "--http2", "--http2-prior-knowledge": wantsHTTP2 = true
        case "--http1.1", "--http1.0", "-0": wantsHTTP2 = false
        case "-s", "-S", "-k", "-v", "-L", "-i", "-f", "-g", "-n", "-N", "-p", "-q", "-a", "-#", "-4", "-6",
            "--silent", "--show-error", "--insecure", "--verbose", "--location", "--include", "--fail", "--globoff",
            "--compressed", "--proxytunnel", "--no-buffer", "--fail-with-body", "--ipv4",
            "--ipv6", "--path-as-is":
            break
        default: return false
        }
        return true
    }

    private mutating func take(_ option: String, _ value: String) throws(Fault) {
        switch option {
        case "-X", "--request": method = value
        case "--url": url = value
        case "-H", "--header": try takeHeader(option, value)
        case "-d", "--data", "--data-ascii", "--data-raw", "--data-binary":
            guard option == "--data-raw" || !value.hasPrefix("@") else { throw Self.readsFile(option, value) }
            add("&", value)
        case "--data-urlencode": add("&", try Self.encoded(value))
        case "--json":
            guard !value.hasPrefix("@") else { throw Self.readsFile(option, value) }
            isJSON = true
            add("", value)
        case "-b", "--cookie":
            // without a value it only enables curl's own cookie store
            guard !value.isEmpty else { break }
            guard value.contains("=") else { throw Self.readsFile(option, value) }
            cookies.append(value)
        case "-A", "--user-agent": setHeader("User-Agent", value)
        case "-e", "--referer": setHeader("Referer", value)
        case "-u", "--user": headers.append(("Authorization", "Basic \(Base64.encode(value.utf8))"))
        case _ where Self.ignoredWithValue.contains(option): break
        default: throw Fault(description: "the curl option \(option) is not supported")
        }
    }

    private static func readsFile(_ option: String, _ value: String) -> Fault {
        Fault(description: "\(option) \(value) reads a file: paste its content instead")
    }

    /// An empty value omits the header.
    private mutating func setHeader(_ name: String, _ value: String) {
        if value.isEmpty { removed.insert(ASCII.lowercased(name)) } else { headers.append((name, value)) }
    }

    /// `Name: value`; `Name:` omits the header, and `Name;` sends it without a value.
    private mutating func takeHeader(_ option: String, _ value: String) throws(Fault) {
        guard !value.hasPrefix("@") else { throw Self.readsFile(option, value) }
        guard let end = value.firstIndex(of: ":") ?? value.firstIndex(of: ";") else {
            throw Fault(description: "the header \"\(value)\" has no colon")
        }
        let name = String(value[..<end])
        let text = String(value[value.index(after: end)...].drop { $0 == " " || $0 == "\t" })
        if value[end] == ":" { return setHeader(name, text) }
        guard text.isEmpty else { throw Fault(description: "the header \"\(value)\" has no colon") }
        headers.append((name, ""))
    }

    private mutating func add(_ separator: String, _ value: String) {
        data = data.map { $0 + separator + value } ?? value
    }

    /// `content`, `=content` and `name=content`. With @ in place of =, a file has the content.
    private static func encoded(_ value: String) throws(Fault) -> String {
        func encode(_ text: Substring) -> String {
            PercentCoding.encode(text).split(separator: "%20", omittingEmptySubsequences: false).joined(separator: "+")
        }
        guard let equals = value.firstIndex(of: "=") else {
            guard !value.contains("@") else { throw readsFile("--data-urlencode", value) }
            return encode(value[...])
        }
        let content = encode(value[value.index(after: equals)...])
        return equals == value.startIndex ? content : "\(value[..<equals])=\(content)"
    }

    private func finished() throws(Fault) -> Request {
        guard var url else { throw Fault(description: "the curl command names no URL") }
        if !url.contains("://") { url = "http://\(url)" }
        do throws(InternationalName.Fault) {
            url = try InternationalName.ascii(url: url)
        } catch {
            throw Fault(description: "the URL's host \(error.words)")
        }
        if let fragment = url.firstIndex(of: "#") { url = String(url[..<fragment]) }
        var body = data
        if dataInQuery {
            if let query = data, !query.isEmpty { url += (url.contains("?") ? "&" : "?") + query }
            body = nil
        }
        var headers = headers.map { (name: $0.name, value: Optional($0.value)) }
        func has(_ name: String) -> Bool { headers.contains { ASCII.equal($0.name, name) } }
        func setDefault(_ name: String, _ value: String) {
            guard !has(name), !removed.contains(ASCII.lowercased(name)) else { return }
            headers.append((name, value))
        }
        setDefault("User-Agent", "curl")
        setDefault("Accept", isJSON ? "application/json" : "*/*")
        if !cookies.isEmpty { headers.append(("Cookie", cookies.joined(separator: ";"))) }
        if isJSON {
            setDefault("Content-Type", "application/json")
        } else if body != nil {
            setDefault("Content-Type", "application/x-www-form-urlencoded")
        }
        if removed.contains("host"), !has("host") { headers.append(("Host", nil)) }
        let method = method ?? (head ? "HEAD" : body == nil ? "GET" : "POST")
        return Request(method: method, url: url, headers: headers, body: body, wantsHTTP2: wantsHTTP2)
    }
}

/// Splits a command line like a POSIX shell, without expansions except for the output of `ShellText`.
enum ShellWords {
    /// A shell ignores combining marks after a quote.
    private typealias Rest = Substring.UnicodeScalarView

    static func split(_ text: String) throws(CurlCommand.Fault) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        var inWord = false
        var rest = Substring(text).unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "'":
                inWord = true
                word += try upToQuote(&rest)
            case "\"":
                inWord = true
                word += try doubleQuoted(&rest)
            case "$" where rest.first == "'":
                rest = rest.dropFirst()
                inWord = true
                word += try ansiQuoted(&rest)
            case "\\":
                guard let next = rest.popFirst() else { break }
                if isLineBreak(next, &rest) { break }
                inWord = true
                word.append(next)
            case _ where scalar.properties.isWhitespace:
                if inWord { words.append(String(word)) }
                word = String.UnicodeScalarView()
                inWord = false
            default:
                inWord = true
                word.append(scalar)
            }
        }
        if inWord { words.append(String(word)) }
        return words
    }

    private static func isLineBreak(_ scalar: Unicode.Scalar, _ rest: inout Rest) -> Bool {
        if scalar == "\r", rest.first == "\n" { rest = rest.dropFirst() }
        return scalar == "\n" || scalar == "\r"
    }

    private static func upToQuote(_ rest: inout Rest) throws(CurlCommand.Fault) -> Rest {
        guard let end = rest.firstIndex(of: "'") else {
            throw CurlCommand.Fault(description: "a single quote is not closed")
        }
        defer { rest = rest[rest.index(after: end)...] }
        return rest[..<end]
    }

    private static func doubleQuoted(_ rest: inout Rest) throws(CurlCommand.Fault) -> String.UnicodeScalarView {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return text
            case "$" where rest.starts(with: "(printf '".unicodeScalars):
                rest = rest.dropFirst("(printf '".unicodeScalars.count)
                text += try printed(upToQuote(&rest), &rest)
            case "\\":
                guard let next = rest.popFirst() else { break }
                if isLineBreak(next, &rest) { continue }
                if !"\"\\$`".unicodeScalars.contains(next) { text.append("\\") }
                text.append(next)
            default: text.append(scalar)
            }
        }
        throw CurlCommand.Fault(description: "a double quote is not closed")
    }

    /// Parses octal bytes of the form `\ooo`.
    private static func printed(
        _ numbers: Rest, _ rest: inout Rest
    ) throws(CurlCommand.Fault) -> String.UnicodeScalarView {
        let bytes = String(numbers).utf8.split(separator: UInt8(ascii: "\\"), omittingEmptySubsequences: false)
            .dropFirst().map { $0.count == 3 ? UInt8(String(Substring($0)), radix: 8) : nil }
        guard rest.popFirst() == ")", numbers.first == "\\",
            let text = String(validating: bytes.compactMap(\.self), as: UTF8.self),
            !bytes.contains(nil)
        else {
            throw CurlCommand.Fault(description: "a shell would have to run $(printf '\(String(numbers))")
        }
        return text.unicodeScalars
    }

    /// `$'…'`, which browsers use when they copy a request as a curl command.
    private static func ansiQuoted(_ rest: inout Rest) throws(CurlCommand.Fault) -> String.UnicodeScalarView {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "'" { return text }
            guard scalar == "\\", let next = rest.popFirst() else {
                text.append(scalar)
                continue
            }
            switch next {
            case "n": text.append("\n")
            case "r": text.append("\r")
            case "t": text.append("\t")
            case "u":
                let digits = String(rest.prefix(4))
                guard let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
                    throw CurlCommand.Fault(description: "\\u\(digits) is not a character")
                }
                rest = rest.dropFirst(4)
                text.append(scalar)
            default: text.append(next)
            }
        }
        throw CurlCommand.Fault(description: "a quote is not closed")
    }
}
