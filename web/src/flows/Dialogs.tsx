import { Dialog } from "../parts/Dialog"
import { columns, keepColumns } from "./columns"

const keys: [string, string][] = [
  ["j, ↓", "the next flow"], ["k, ↑", "the flow before"], ["Page Down, Page Up", "a page"], ["Home, End", "the newest, the oldest"],
  ["Enter", "open the flow"], ["Esc", "back"], ["/", "filter"], ["f", "follow, or stop"], ["c", "clear the list"], ["?", "this help"],
]

const examples: [string, string][] = [
  ["action=AUTHENTICATE status=4xx", "refused calls of a login"],
  ["host=api.* method=POST,PUT", "alternatives, with commas"],
  ["not status=2xx", "all but successes"],
  ["path=~^/orders/[0-9]+$", "a regular expression"],
  ["slower=200ms since=5m", "slow ones of the last five minutes"],
  ["changed=yes", "what interceptors changed"],
  ["cookie.iPlanetDirectoryPro=session#3", "all requests with a session"],
  ["calls=yes", "also Usher's own calls"],
]

/** Keys, and the language of filters. */
export function Help({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys and filters" onClose={onClose} wide>
      <div className="two">
        <table>
          <caption className="hidden">Keys</caption>
          <tbody>{keys.map(([key, does]) => <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{does}</td></tr>)}</tbody>
        </table>
        <table>
          <caption className="hidden">Filters</caption>
          <tbody>{examples.map(([filter, finds]) => <tr key={filter}><td><code>{filter}</code></td><td>{finds}</td></tr>)}</tbody>
        </table>
      </div>
      <p className="dim">A filter is KEY=VALUE; several have to match together. The line completes keys and values.</p>
    </Dialog>
  )
}

interface ColumnsProps { chosen: string[]; onChange(ids: string[]): void; onClose(): void }

/** Which columns the list has. */
export function Columns({ chosen, onChange, onClose }: ColumnsProps) {
  const change = (id: string, isOn: boolean) => {
    const ids = columns.map((column) => column.id).filter((one) => (one === id ? isOn : chosen.includes(one)))
    if (ids.length > 0) onChange(keepColumns(ids))
  }
  return (
    <Dialog
      title="Columns" onClose={onClose}
      footer={<><button type="button" onClick={() => onChange(keepColumns(null))}>Reset</button>
        <button type="button" className="primary" onClick={onClose}>Done</button></>}
    >
      <div className="choices">
        {columns.map((column) => (
          <label key={column.id}>
            <input type="checkbox" checked={chosen.includes(column.id)} onChange={(event) => change(column.id, event.target.checked)} />
            {column.title}
          </label>
        ))}
      </div>
    </Dialog>
  )
}
