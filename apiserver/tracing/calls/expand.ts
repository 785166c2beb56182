import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { splitBySize } from '../../../lib/split-by-size.ts'
import type { Project } from '../projects.ts'
import { splitPath } from '../query/field.ts'
import { resolveStoredRefs } from '../refs/resolve-refs.ts'
import { partBytes, type ReadDeps } from '../read-memory.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import { ExpandedCall, isPayload } from './expanded-call.ts'
import { PathTree } from './path-tree.ts'
import { RefTexts } from './ref-texts.ts'

// The size of the payloads that are parsed together.
const maxParsed = 1024 * 1024

/**
 * Writes calls in which refs at the given paths are replaced by the values of their objects. A path may continue inside
 * such a value. An object gets its ref as `_ref`. Refs that resolve to nothing stay.
 */
export async function* expandCalls(
  deps: ReadDeps,
  project: Project,
  wanted: {
    calls: StoredCall[]
    columns: readonly string[]
    present: (call: StoredCall, index: number) => string
  },
): AsyncGenerator<string[]> {
  const paths = new PathTree(wanted.columns.map(splitPath).filter(([root]) => isPayload(root!)))
  const yielder = new EventLoopYielder()
  const calls = wanted.calls.map((call, index) => ({ call, index }))
  const bytesOfCalls = deps.reading.bytes
  for (const part of splitBySize(calls, maxParsed, ({ call }) => bytesOf(call))) {
    deps.reading.next(bytesOfCalls)
    const expanded: ExpandedCall[] = []
    for (const { call } of part) {
      if (yielder.isDue()) await yielder.yield()
      expanded.push(new ExpandedCall(call, paths))
    }
    const values = await resolveAll(deps, project, expanded)
    let [written, bytes]: [string[], number] = [[], 0]
    for (const [index, call] of expanded.entries()) {
      if (yielder.isDue()) await yielder.yield()
      const text = wanted.present(call.write(values), part[index]!.index)
      if (written.length > 0 && bytes + text.length > partBytes) {
        yield written
        ;[written, bytes] = [[], 0]
      }
      written.push(text)
      bytes += text.length
    }
    yield written
  }
}

/** Resolves the refs at the paths: first those in the calls, then those in the values that were resolved. */
async function resolveAll(deps: ReadDeps, project: Project, calls: ExpandedCall[]): Promise<RefTexts> {
  const values = new RefTexts()
  for (;;) {
    const missing = new Set(calls.flatMap((call) => call.listRefs(values)))
    if (missing.size === 0) return values
    values.add(missing, await resolveStoredRefs(deps, project, missing))
  }
}

function bytesOf({ attributes, inputs, output, summary }: StoredCall): number {
  return [attributes, inputs, output, summary].reduce<number>((sum, text) => sum + (text?.length ?? 0), 0)
}
