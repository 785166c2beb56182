/** The times of a job, as the API has them. */
export interface Timeline {
  created_at: string
  queued_at: string | null
  claimed_at: string | null
  started_at: string | null
  trained_at: string | null
  published_at: string | null
  finished_at: string | null
}

export interface Lane {
  name: 'pending' | 'queued' | 'starting' | 'running' | 'publishing' | 'loading'
  /** The engine pod that loads the checkpoint. */
  pod?: string
  /** Milliseconds since the Unix epoch. */
  from: number
  to: number
  /** Whether the job is in this lane now. */
  isOpen: boolean
}

/** What an engine pod says about the checkpoint of a job. */
interface Load {
  pod: string
  at: string
  error: string | null
}

const laneStarts = [
  ['pending', 'created_at'],
  ['queued', 'queued_at'],
  ['starting', 'claimed_at'],
  ['running', 'started_at'],
  ['publishing', 'trained_at'],
] as const satisfies readonly (readonly [Lane['name'], keyof Timeline])[]

/** The phases that a job has reached, each with its times. The last one of an unfinished job ends now. */
export function listLanes(timeline: Timeline, now: number): Lane[] {
  const reached = laneStarts.flatMap(([name, start]) => {
    const time = timeline[start]
    return time === null ? [] : [{ name, from: Date.parse(time) }]
  })
  const end = timeline.finished_at === null ? undefined : Date.parse(timeline.finished_at)
  return reached.map(({ name, from }, index) => {
    const next = reached[index + 1]?.from ?? end
    // A retry is claimed again, so a later phase may have begun before an earlier one.
    return { name, from, to: Math.max(from, next ?? now), isOpen: next === undefined }
  })
}

// An engine that loads a checkpoint later has another reason: it started again, or was asked for it.
const loadingMs = 10 * 60_000

/** A lane for each engine that loaded the checkpoint when it was there. */
export function listLoadLanes({ published_at: published }: Timeline, loads: readonly Load[]): Lane[] {
  if (published === null) return []
  const from = Date.parse(published)
  return loads.flatMap(({ pod, at, error }): Lane[] => {
    const to = Math.max(from, Date.parse(at))
    return error !== null || to - from > loadingMs ? [] : [{ name: 'loading', pod, from, to, isOpen: false }]
  })
}

const finalStates = new Set(['Succeeded', 'Failed', 'Cancelled'])

export function isFinal(state: string): boolean {
  return finalStates.has(state)
}

export const activeStates = [
  'Pending',
  'Queued',
  'Starting',
  'Running',
  'Publishing',
  'Suspending',
  'Suspended',
] as const

/** The share of a job that is done, from 0 to 1. Undefined while its length is unknown. */
export function shareDone(progress: { step: number; total_steps: number | null }): number | undefined {
  return progress.total_steps ? Math.min(1, progress.step / progress.total_steps) : undefined
}
