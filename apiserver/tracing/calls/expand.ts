import type { StoredCall } from '../../../db/tracing/read-calls.ts'
import type { TraceDeps } from '../deps.ts'
import { parseValue, writeValue, type Value } from '../json/value.ts'
import type { Project } from '../projects.ts'
import { splitPath } from '../query/field.ts'
import { resolveStoredRefs } from '../refs/resolve-refs.ts'

type Payload = 'attributes' | 'inputs' | 'output' | 'summary'

const payloads: ReadonlySet<string> = new Set<Payload>(['attributes', 'inputs', 'output', 'summary'])

/** A ref that stands in a payload, and where. */
interface Place {
  holder: Map<string, Value> | Value[]
  key: string
  ref: string
}

/**
 * Puts the values of objects in the places of refs at these paths, outer paths first, so that paths may lead on into what
 * was put there. What is an object gets its ref as `_ref`; refs that lead nowhere stay.
 */
export async function expandCalls(
  deps: Pick<TraceDeps, 'pool'>,
  project: Project,
  { calls, columns }: { calls: StoredCall[]; columns: readonly string[] },
): Promise<void> {
  const paths = columns.map(splitPath).filter(([root]) => payloads.has(root!))
  const parsed = calls.map((call) => new ParsedCall(call))
  for (const path of paths.sort((a, b) => a.length - b.length)) {
    const places = parsed.flatMap((call) => call.findRef(path) ?? [])
    const values = await resolveStoredRefs(
      deps,
      project,
      places.map(({ ref }) => ref),
    )
    for (const place of places) putValue(place, values.get(place.ref))
  }
  for (const call of parsed) call.write()
}

/** A call whose payloads are values while refs are looked for in them. */
class ParsedCall {
  readonly #call: StoredCall
  readonly #roots = new Map<string, Value>()

  constructor(call: StoredCall) {
    this.#call = call
  }

  findRef([root, ...segments]: string[]): Place | undefined {
    const key = segments.length === 0 ? root! : segments.at(-1)!
    const holder = segments.length === 0 ? this.#load(root!) && this.#roots : this.#walk(root!, segments.slice(0, -1))
    const value = holder && memberOf(holder, key)
    if (typeof value !== 'string' || !value.startsWith('weave:///')) return undefined
    return { holder: holder as Place['holder'], key, ref: value }
  }

  write(): void {
    for (const [root, value] of this.#roots) this.#call[root as Payload] = writeValue(value)
  }

  #walk(root: string, segments: string[]): Value | undefined {
    let value: Value | undefined = this.#load(root)
    for (const segment of segments) value = value === undefined ? undefined : memberOf(value, segment)
    return value
  }

  #load(root: string): Value | undefined {
    const text = this.#call[root as Payload]
    if (!this.#roots.has(root) && typeof text === 'string') this.#roots.set(root, parseValue(text))
    return this.#roots.get(root)
  }
}

function memberOf(holder: Value, key: string): Value | undefined {
  if (holder instanceof Map) return holder.get(key)
  return Array.isArray(holder) && /^\d+$/.test(key) ? holder[Number(key)] : undefined
}

function putValue({ holder, key, ref }: Place, text: string | undefined): void {
  if (text === undefined) return
  const value = parseValue(text)
  if (value instanceof Map) value.set('_ref', ref)
  if (holder instanceof Map) holder.set(key, value)
  else holder[Number(key)] = value
}
