internal import Interceptors
internal import Scripts

private func read(_ bytes: [UInt8], _ cuts: [Int]) -> (texts: [[UInt8]], isFaulty: Bool) {
    var reader = FrameReader(limit: 500)
    var texts: [[UInt8]] = []
    var start = 0
    do throws(FrameFault) {
        for end in cuts {
            reader.append(bytes[start..<end])
            while let text = try reader.next() { texts.append(Array(text)) }
            start = end
        }
    } catch {
        return (texts, true)
    }
    require(reader.waiting <= bytes.count, "no more waits than came")
    return (texts, false)
}

/// What a script sends: the same frames or fault in any pieces, and written again they read the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzScriptFrame(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    let whole = read(input.bytes, [input.bytes.count])
    let parts = read(input.bytes, input.cuts())
    require(parts.texts == whole.texts && parts.isFaulty == whole.isFaulty, "pieces read like the whole")
    let written = whole.texts.flatMap { FrameReader.frame($0) }
    require(read(written, [written.count]).texts == whole.texts, "written frames read the same")
    let request = Request(url: "http://a.test/", body: [])
    for text in whole.texts {
        _ = try? ScriptHello(text[...])
        guard let reply = try? ScriptReply(text[...]) else { continue }
        for message in [ScriptQuestion.Message.request(request), .response(Response(), to: request)] {
            let question = ScriptQuestion(interceptor: "a", action: Action(type: .none), message: message)
            _ = reply.answer(to: question) { input.bytes }
        }
    }
    return 0
}
