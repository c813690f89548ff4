import { Component, type ReactNode } from "react"
import { asProblem } from "../hooks"
import { Fault } from "./Says"

/** Keeps the rest of the page where one part of it fails. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === null) return this.props.children
    return <div className="page"><Fault problem={asProblem(this.state.error)} retry={() => this.setState({ error: null })} /></div>
  }
}
