import { Component, type ReactNode } from "react"
import { asProblem } from "../hooks"
import { Fault } from "./Says"

interface Props {
  /** What is shown: an error of another place is forgotten. */
  place?: string
  children: ReactNode
}

interface State { error: unknown; place: string | undefined }

/** Keeps the rest of the page where one part of it fails. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: null, place: this.props.place }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  static getDerivedStateFromProps({ place }: Props, state: State): State | null {
    return place === state.place ? null : { error: null, place }
  }

  override render() {
    if (this.state.error === null) return this.props.children
    return <div className="page"><Fault problem={asProblem(this.state.error)} retry={() => this.setState({ error: null })} /></div>
  }
}
