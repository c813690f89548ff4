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
          <Line name="Shell" text={`export HTTP_PROXY=${url} HTTPS_PROXY=${url} http_proxy=${url} https_proxy=${url} NO_PROXY=`} />
        </>
      )}
    </section>
  )
}

function Line({ name, text }: { name: string; text: string }) {
  return (
    <div className="line"><span className="dim">{name}</span><code>{text}</code><Copy text={text} /></div>
  )
}
