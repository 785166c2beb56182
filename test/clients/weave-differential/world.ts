import { createRandom, type Random } from './random.ts'
import type { Request } from './request.ts'

/** One thing that a sequence does: the requests of which the last one's answer is compared. */
export interface Step {
  /** What is tried, in a few words. */
  what: string
  requests: Request[]
  /** What the reference is asked instead, when it cannot be asked the same; it is then not asked `requests`. */
  instead?: Request[]
}

/** A call that was started. */
export interface KnownCall {
  id: string
  traceId: string
  parentId: string | null
  startedMs: number
  opName: string
  threadId: string | null
  wbRunId: string | null
  ended: boolean
}

export interface KnownObject {
  name: string
  digests: string[]
}

export interface KnownTable {
  digest: string
  rows: string[]
}

/** What one sequence has written to its own project so far. */
export interface World {
  project: string
  random: Random
  /** A time that no other caller gets: milliseconds, growing. */
  tick: () => number
  calls: KnownCall[]
  /** Threads that lost a call: the reference goes on counting it. */
  brokenThreads: Set<string>
  objects: KnownObject[]
  /** Names of objects with a member `serial`, by digest. */
  records: Map<string, string>
  tables: KnownTable[]
  files: string[]
  feedback: string[]
}

// Requests look a few months old, so that weeks of calls differ.
const beginningMs = Date.parse('2026-03-02T08:00:00Z')

export function createWorld(entity: string, seed: number): World {
  const random = createRandom(seed)
  let now = beginningMs + random.int(60 * 86_400_000)
  const tick = () => (now += 20 + random.int(40_000))
  const project = `${entity}/differential-${seed}`
  return {
    project,
    random,
    tick,
    calls: [],
    brokenThreads: new Set(),
    objects: [],
    records: new Map(),
    tables: [],
    files: [],
    feedback: [],
  }
}

export const words = ['amber', 'birch', 'cedar', 'dune', 'ember', 'fjord', 'grove', 'heath', 'islet', 'jetty'] as const

/** A step of one request to both. */
export function ask(what: string, path: string, body: unknown): Step {
  return { what, requests: [{ path, body }] }
}

export const threadIds = Array.from({ length: 8 }, (_, index) => `thread-${index}`)
