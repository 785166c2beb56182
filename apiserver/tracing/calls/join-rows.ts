import type { CallRow } from '../../../db/tracing/call-rows.ts'

/**
 * The rows of several requests, in the order in which these came, as one statement takes them: each call once, in the order
 * of ids, so that writers of the same calls lock them in one order.
 */
export function joinRows(requests: readonly CallRow[][]): CallRow[] {
  if (requests.length === 1) return requests[0]!
  const joined = new Map<string, CallRow>()
  for (const row of requests.flat()) {
    const key = `${row.project} ${row.id}`
    const known = joined.get(key)
    joined.set(key, known ? mergeRows(known, row) : row)
  }
  return [...joined.values()].sort((a, b) => compare(a.id, b.id) || a.project - b.project)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What the later row says of the start or of the end counts; what it does not say stays. */
function mergeRows(earlier: CallRow, later: CallRow): CallRow {
  const [startOf, endOf] = [later.start ? later : earlier, later.end ? later : earlier]
  return {
    ...later,
    start: startOf.start,
    end: endOf.end,
    payloads: {
      attributes: startOf.payloads.attributes,
      inputs: startOf.payloads.inputs,
      otel_dump: startOf.payloads.otel_dump,
      output: endOf.payloads.output,
      summary: endOf.payloads.summary,
    },
    startSize: startOf.startSize,
    endSize: endOf.endSize,
    spilled: mergeSpilled(startOf.spilled, endOf.spilled),
  }
}

function mergeSpilled(start: CallRow['spilled'], end: CallRow['spilled']): CallRow['spilled'] {
  if (!start && !end) return undefined
  const { attributes, inputs, otel_dump: dump } = start ?? {}
  const { output, summary } = end ?? {}
  return {
    ...(attributes && { attributes }),
    ...(inputs && { inputs }),
    ...(dump && { otel_dump: dump }),
    ...(output && { output }),
    ...(summary && { summary }),
  }
}
