import { useEffect, useState, type FormEvent } from "react"
import { loginByKey, loginByToken, needsLink, Problem } from "../api"
import { asProblem } from "../hooks"
import { Command, Fault } from "../parts/Says"

/** Asks for the token of `admin.token`, or for another link where links alone open the page. */
export function Login({ problem: first }: { problem: Problem | null }) {
  const [problem, setProblem] = useState(first)
  useEffect(() => setProblem(first), [first])

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const token = String(new FormData(event.currentTarget).get("token") ?? "").trim()
    if (token === "") return
    try {
      await loginByToken(token)
    } catch (error) {
      const problem = asProblem(error)
      setProblem(problem.status === 401 ? new Problem(401, "This is not the token", "It is the value of admin.token.") : problem)
    }
  }
  return (
    <main className="login">
      <h1>Usher</h1>
      {problem && <Fault problem={problem} />}
      {needsLink() ? <p>This command gives the link that opens the page; run it again:</p> : (
        <>
          <form onSubmit={submit}>
            <label htmlFor="token">Token <span className="dim">(<code>admin.token</code>)</span></label>
            <input id="token" name="token" type="password" autoComplete="current-password" required autoFocus />
            <button type="submit" className="primary">Log in</button>
          </form>
          <p>Or let this command open the page, without a token:</p>
        </>
      )}
      <Command>usher ui</Command>
    </main>
  )
}

/** Exchanges a key in the address; gives a problem where that fails. */
export async function keyOfAddress(): Promise<Problem | null> {
  const key = new URLSearchParams(location.hash.slice(1)).get("key")
  if (key === null) return null
  // a key in the address would stay in the browser's history
  history.replaceState(null, "", location.pathname)
  try {
    await loginByKey(key)
    return null
  } catch (error) {
    const problem = asProblem(error)
    return new Problem(problem.status, "This key does not open the page",
      `${problem.detail} A key works once, for two minutes. Type usher ui again.`)
  }
}
