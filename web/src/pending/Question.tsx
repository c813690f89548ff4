// What AM asks, as a form: one field for each callback, in the form that the daemon names.
import { useId, useState, type FormEvent, type ReactNode } from "react"
import type { Problem } from "../api"
import { Fault } from "../parts/Says"
import type { Transaction } from "../types"

export type Callback = Transaction["callbacks"][number]
/** The answer to one callback; a list for one with several parts. */
export type Answer = { callback: number; value: string | boolean | string[] }
type Values = Record<number, string | boolean | string[]>

interface QuestionProps {
  transaction: Transaction
  /** Why the last answer was refused. */
  problem: Problem | null
  isBusy: boolean
  onAnswer(answers: Answer[]): void
  /** Further buttons. */
  children?: ReactNode
}

/** The callback whose choices are the buttons of the page: AM's own pages do the same. */
function buttonsOf(callbacks: Callback[]): Callback | undefined {
  const choices = callbacks.filter((one) => one.form === "choice" && one.choices.length <= 6)
  const confirmations = choices.filter((one) => one.type === "ConfirmationCallback")
  if (confirmations.length === 1) return confirmations[0]
  return callbacks.length === 1 ? choices[0] : undefined
}

export function Question({ transaction, problem, isBusy, onAnswer, children }: QuestionProps) {
  const [values, setValues] = useState<Values>({})
  const buttons = buttonsOf(transaction.callbacks)
  const fields = transaction.callbacks.filter((one) => one !== buttons)
  // the daemon begins its reason with the type and prompt of the callback
  const named = problem?.status === 422
    ? fields.filter((one) => problem.detail.startsWith(one.prompt === "" ? one.type : `${one.type} "${one.prompt}"`))
    : []
  const blamed = named.length === 1 ? named[0] : undefined

  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const answers: Answer[] = fields.map((one) => (
      { callback: one.index, value: values[one.index] ?? unanswered(one) }))
    const pressed = ((event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null)?.value
    if (buttons !== undefined && pressed !== undefined) answers.push({ callback: buttons.index, value: pressed })
    onAnswer(answers)
  }
  return (
    <form className="question" onSubmit={send} autoComplete="off">
      {problem && blamed === undefined && <Fault problem={problem} />}
      {fields.map((one, place) => (
        <Field
          key={one.index} callback={one} value={values[one.index] ?? unanswered(one)} isFirst={place === 0}
          refusal={one === blamed ? problem?.detail : undefined} isShortened={transaction.shortened}
          onChange={(value) => setValues((old) => ({ ...old, [one.index]: value }))}
        />
      ))}
      {buttons && <Policies callback={buttons} />}
      {buttons && buttons.prompt !== "" && <p className="prompt" id={`prompt-${buttons.index}`}>{buttons.prompt}</p>}
      <div className="answers">
        {buttons === undefined
          ? <button type="submit" className="primary" disabled={isBusy}>Answer</button>
          : buttons.choices.map((choice, place) => (
            <button
              key={choice.number} type="submit" className={place === 0 ? "primary" : undefined} disabled={isBusy}
              aria-describedby={buttons.prompt === "" ? undefined : `prompt-${buttons.index}`}
              value={told(choice, transaction.shortened)}
            >{choice.label || String(choice.number)}</button>
          ))}
        {children}
      </div>
    </form>
  )
}

/** What the daemon takes for a choice; a label that it cut off would be none of AM's. */
function told(choice: Callback["choices"][number], isShortened: boolean): string {
  return isShortened || choice.label === "" ? String(choice.number) : choice.label
}

function unanswered(callback: Callback): string | boolean | string[] {
  if (callback.parts.length > 0) return callback.parts.map(() => "")
  return callback.form === "truth" ? false : ""
}

interface FieldProps {
  callback: Callback
  value: string | boolean | string[]
  isFirst: boolean
  refusal: string | undefined
  isShortened: boolean
  onChange(value: string | boolean | string[]): void
}

/** What people call a callback that AM gives no prompt. */
const names = new Map(Object.entries({
  NameCallback: "User name", PasswordCallback: "Password", TermsAndConditionsCallback: "I accept the terms",
  ConsentMappingCallback: "I consent", SelectIdPCallback: "Sign in with", KbaCreateCallback: "Security question",
  ChoiceCallback: "A choice", ConfirmationCallback: "A confirmation",
}))

export const nameOf = (callback: Callback): string => callback.prompt || names.get(callback.type) || callback.type

function Field({ callback, value, isFirst, refusal, isShortened, onChange }: FieldProps) {
  const id = useId()
  const isWrong = refusal !== undefined || callback.policies.length > 0
  const told = { "aria-invalid": isWrong || undefined, "aria-describedby": isWrong ? `${id}-why` : undefined }
  const why = isWrong && (
    <div id={`${id}-why`} className="why">
      {refusal !== undefined && <p className="bad" role="alert">{refusal}</p>}
      <Policies callback={callback} />
    </div>
  )
  if (callback.parts.length > 0) {
    const texts = value as string[]
    return (
      <fieldset className="field" {...told}>
        <legend>{nameOf(callback)} <Kind callback={callback} /></legend>
        {callback.parts.map((part, place) => (
          <div key={part}>
            <label htmlFor={`${id}-${place}`}>{part}</label>
            <input id={`${id}-${place}`} value={texts[place] ?? ""} autoFocus={isFirst && place === 0} required
              onChange={({ target }) => onChange(texts.map((text, other) => (other === place ? target.value : text)))} />
          </div>
        ))}
        {why}
      </fieldset>
    )
  }
  if (callback.form === "truth") {
    return (
      <div className="field">
        <label className="check">
          <input type="checkbox" checked={value as boolean} {...told}
            onChange={(event) => onChange(event.target.checked)} />
          {" "}{nameOf(callback)} <Kind callback={callback} />
        </label>
        {why}
      </div>
    )
  }
  if (callback.form === "choice") {
    return (
      <Choices id={id} callback={callback} value={value as string} isShortened={isShortened} onChange={onChange}>
        {why}
      </Choices>
    )
  }
  const props = {
    id, value: value as string, autoFocus: isFirst, required: true, ...told,
    inputMode: callback.form === "number" ? "decimal" as const : undefined, onChange,
  }
  return (
    <div className="field">
      <label htmlFor={id}>{nameOf(callback)}</label> <Kind callback={callback} />
      {callback.secret ? <Secret {...props} /> : (
        <input {...props} autoCapitalize="none" spellCheck={false} onChange={(event) => onChange(event.target.value)} />
      )}
      {why}
    </div>
  )
}

/** The type of a callback, for those who know AM. */
function Kind({ callback }: { callback: Callback }) {
  return <span className="kind">{callback.type}</span>
}

function Policies({ callback }: { callback: Callback }) {
  if (callback.policies.length === 0) return null
  return (
    <div className="bad" role="alert">
      AM did not accept the last answer:
      <ul>{callback.policies.map((policy) => <li key={policy}>{policy}</li>)}</ul>
    </div>
  )
}

interface SecretProps {
  id: string
  value: string
  autoFocus: boolean
  required: boolean
  onChange(value: string): void
}

/** A field for a secret, which a person may look at: a wrong letter may lock the account. */
function Secret({ onChange, ...props }: SecretProps) {
  const [isShown, setShown] = useState(false)
  return (
    <div className="secret">
      <input {...props} type={isShown ? "text" : "password"} autoComplete="one-time-code" autoCapitalize="none"
        spellCheck={false} onChange={(event) => onChange(event.target.value)} />
      <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>Show</button>
    </div>
  )
}

interface ChoicesProps {
  id: string
  callback: Callback
  value: string
  isShortened: boolean
  onChange(value: string): void
  children: ReactNode
}

function Choices({ id, callback, value, isShortened, onChange, children }: ChoicesProps) {
  if (callback.choices.length > 8) {
    return (
      <div className="field">
        <label htmlFor={id}>{nameOf(callback)}</label> <Kind callback={callback} />
        <select id={id} value={value} required onChange={(event) => onChange(event.target.value)}>
          <option value="">Choose…</option>
          {callback.choices.map((choice) => (
            <option key={choice.number} value={told(choice, isShortened)}>{choice.label}</option>
          ))}
        </select>
        {children}
      </div>
    )
  }
  return (
    <fieldset className="field">
      <legend>{nameOf(callback)} <Kind callback={callback} /></legend>
      {callback.choices.map((choice) => (
        <label key={choice.number} className="check">
          <input type="radio" name={id} required checked={value === told(choice, isShortened)}
            onChange={() => onChange(told(choice, isShortened))} />
          {" "}{choice.label}
        </label>
      ))}
      {children}
    </fieldset>
  )
}
