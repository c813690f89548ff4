// The keys of test sessions that this page opened: the daemon shows each once, so they stay in memory, and only there.
import type { OpenedSession } from "../../../clients/node/api"

const opened = new Map<string, OpenedSession>()

export function remember(session: OpenedSession): void {
  opened.set(session.id, session)
}

export const openedHere = (id: string): OpenedSession | undefined => opened.get(id)
