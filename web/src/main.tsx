import { StrictMode, useEffect, useState, type ComponentType } from "react"
import { createRoot } from "react-dom/client"
import "../app.css"
import "../pages.css"
import { get, isLoggedIn, watchLogin, type Problem } from "./api"
import { Boundary } from "./parts/Boundary"
import { Nav } from "./parts/Nav"
import { useNotices } from "./pending/notify"
import { keyOfAddress, Login } from "./pages/Login"
import { Configuration } from "./pages/Configuration"
import { Flows } from "./pages/Flows"
import { Journeys } from "./pages/Journeys"
import { Overview } from "./pages/Overview"
import { Pending } from "./pages/Pending"
import { Sessions } from "./pages/Sessions"
import { useRoute, type Route } from "./route"

// a map: an address such as #/constructor names no page
const pages = new Map<string, ComponentType<{ route: Route }>>(Object.entries({
  flows: Flows, journeys: Journeys, pending: Pending, sessions: Sessions, overview: Overview,
  configuration: Configuration,
}))

function App({ problem, isOpen: first }: { problem: Problem | null; isOpen: boolean }) {
  const [isOpen, setOpen] = useState(first)
  const route = useRoute()
  useEffect(() => watchLogin(() => setOpen(isLoggedIn())), [])
  if (!isOpen) return <Login problem={problem} />

  const name = route.parts[0] ?? "flows"
  const Page = pages.get(name) ?? Flows
  return (
    <>
      <Boundary><Notices /></Boundary>
      <a className="skip" href="#main" onClick={(event) => {
        event.preventDefault()
        document.getElementById("main")?.focus()
      }}>Skip to the content</a>
      <Boundary><Nav current={name} /></Boundary>
      <main id="main" tabIndex={-1}><Boundary key={name} place={route.parts.join("/")}><Page route={route} /></Boundary></main>
    </>
  )
}

/** Has no look: tells of step-ups, whichever page is shown. */
function Notices() {
  useNotices()
  return null
}

async function start() {
  // a new link, opened in a tab that shows the page
  window.addEventListener("hashchange", () => {
    if (location.hash.startsWith("#key=")) location.reload()
  })
  const problem = await keyOfAddress()
  let isOpen = isLoggedIn()
  if (!isOpen) {
    // the socket behind a relay asks for no token; others say which login they take
    const isAnswered = await get("/v1/status").then(() => true, () => false)
    isOpen = isAnswered && problem === null
  }
  createRoot(document.getElementById("app")!).render(
    <StrictMode><Boundary><App problem={problem} isOpen={isOpen} /></Boundary></StrictMode>)
}

void start()
