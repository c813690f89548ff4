export type OnEvent = (name: string, data: unknown, id: string | null) => void

/** Splits bytes of a stream into events. */
export class EventReader {
  private rest = ""
  private readonly decoder = new TextDecoder()

  constructor(private readonly onEvent: OnEvent) {}

  read(bytes: Uint8Array): void {
    const text = this.rest + this.decoder.decode(bytes, { stream: true })
    let from = 0
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
      this.event(text.slice(from, end))
      from = end + 2
    }
    this.rest = text.slice(from)
  }

  private event(block: string): void {
    let name = "message"
    let data = ""
    let id: string | null = null
    for (const line of block.split("\n")) {
      if (line.startsWith("data: ")) data += line.slice(6)
      else if (line.startsWith("event: ")) name = line.slice(7)
      else if (line.startsWith("id: ")) id = line.slice(4)
    }
    if (data !== "") this.onEvent(name, JSON.parse(data), id)
  }
}
