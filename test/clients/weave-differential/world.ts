import { createRandom, type Random } from './random.ts'
import type { Request } from './request.ts'

/** A step of a sequence. The answer of its last request is compared. */
export interface Step {
  /** A short description of the step. */
  what: string
  requests: Request[]
  /** Requests for the reference if it needs other ones. They replace `requests` there. */
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

/** The data that a sequence has written to its project. */
export interface World {
  project: string
  random: Random
  /** Returns a new, growing time in milliseconds. */
  tick: () => number
  calls: KnownCall[]
  /** Threads that lost a call. The reference still counts the call. */
  brokenThreads: Set<string>
  objects: KnownObject[]
  /** The names of objects with a member `serial`, by digest. */
  records: Map<string, string>
  tables: KnownTable[]
  files: string[]
  feedback: string[]
}

// The data is a few months old, so that calls are in different weeks.
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

/** A step with one request to both servers. */
export function ask(what: string, path: string, body: unknown): Step {
  return { what, requests: [{ path, body }] }
}

export const threadIds = Array.from({ length: 8 }, (_, index) => `thread-${index}`)
