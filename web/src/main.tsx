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

const pages: Record<string, ComponentType<{ route: Route }>> = {
  flows: Flows, journeys: Journeys, pending: Pending, sessions: Sessions, overview: Overview,
  configuration: Configuration,
}

function App({ problem, isOpen: first }: { problem: Problem | null; isOpen: boolean }) {
  const [isOpen, setOpen] = useState(first)
  const route = useRoute()
  useEffect(() => watchLogin(() => setOpen(isLoggedIn())), [])
  if (!isOpen) return <Login problem={problem} />

  const name = route.parts[0] ?? "flows"
  const Page = pages[name] ?? Flows
  return (
    <>
      <Notices />
      <a className="skip" href="#main" onClick={(event) => {
        event.preventDefault()
        document.getElementById("main")?.focus()
      }}>Skip to the content</a>
      <Nav current={name} />
      <main id="main" tabIndex={-1}><Boundary key={name}><Page route={route} /></Boundary></main>
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
  // the socket behind a relay asks for no token
  if (!isOpen && problem === null) isOpen = await get("/v1/status").then(() => true, () => false)
  createRoot(document.getElementById("app")!).render(
    <StrictMode><App problem={problem} isOpen={isOpen} /></StrictMode>)
}

void start()
