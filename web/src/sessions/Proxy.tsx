import { Copy } from "../parts/Copy"
import type { Session } from "../types"
import { openedHere } from "./opened"

/** How programs come into the session. */
export function Proxy({ session }: { session: Session }) {
  const opened = openedHere(session.id)
  const url = opened?.proxy ?? session.port
  return (
    <section className="panel">
      <h2>Lead programs here</h2>
      {opened === undefined && (
        <p className="dim">
          The proxy URL has a key, which is shown once, to the one who opened the session.
          {session.port === null ? " This session has no port of its own." : " The port of its own needs none:"}
        </p>
      )}
      {url !== null && (
        <>
          <Line name={opened === undefined ? "Port" : "Proxy"} text={url} />
          {opened !== undefined && opened.port !== null && <Line name="Port" text={opened.port} />}
          {opened !== undefined && <Line name="Field" text={`${opened.header.name}: ${opened.header.value}`} />}
          {opened?.password !== undefined && <Line name="Robot" text={`${opened.robot}: ${opened.password}`} />}
          <Line name="Shell" text={shell(url)} />
        </>
      )}
    </section>
  )
}

/** The variables for a shell: programs differ in which of them they read. */
function shell(url: string): string {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
  return `export ${names.map((name) => `${name}=${url}`).join(" ")} NO_PROXY= no_proxy=`
}

function Line({ name, text }: { name: string; text: string }) {
  return (
    <div className="line"><span className="dim">{name}</span><code>{text}</code><Copy text={text} /></div>
  )
}
