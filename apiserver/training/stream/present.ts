import type { EventRow } from '../../../db/jobs/events.ts'
import type { ChangeRow } from '../../../db/webhooks/read-outbox.ts'
import { presentEvent } from '../training-jobs/present.ts'
import { modelOf } from './topics.ts'

const times = new Set(['created_at', 'started_at', 'finished_at'])

/** A change as a server-sent event. `events` are those of the job, for who follows it closely. */
export function presentChange(change: ChangeRow, events?: readonly EventRow[]): string {
  const { position, at, kind, subjectId, project, data } = change
  const value = {
    kind,
    id: subjectId,
    project,
    model_id: modelOf(change),
    at: at.toISOString(),
    data: {
      ...Object.fromEntries(Object.entries(data).map(presentMember)),
      ...(events && { events: events.map(presentEvent) }),
    },
  }
  return `id: ${formatCursor({ position, atMs: at.getTime() })}\nevent: change\ndata: ${JSON.stringify(value)}\n\n`
}

/** Tells a client to read everything again. */
export function presentReset(reason: 'too_old' | 'too_slow', position: number): string {
  return `id: ${formatCursor({ position, atMs: Date.now() })}\nevent: reset\ndata: ${JSON.stringify({ reason })}\n\n`
}

/** A position in the changes, and when a client was there. */
export interface Cursor {
  position: number
  atMs: number
}

/** The `id` of an event. */
export function formatCursor({ position, atMs }: Cursor): string {
  return `${position}-${Math.floor(atMs / 1_000)}`
}

/** Reads what `formatCursor` has written; undefined for another text. */
export function parseCursor(text: string): Cursor | undefined {
  const [, position, seconds] = /^(\d{1,15})-(\d{1,12})$/.exec(text) ?? []
  return position === undefined ? undefined : { position: Number(position), atMs: Number(seconds) * 1_000 }
}

/** Postgres writes times with the server's offset. */
function presentMember([name, value]: [string, unknown]): [string, unknown] {
  return [name, times.has(name) && typeof value === 'string' ? new Date(value).toISOString() : value]
}
