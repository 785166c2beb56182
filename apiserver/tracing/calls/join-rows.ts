import type { CallRow } from '../../../db/tracing/call-rows.ts'

/**
 * Joins the rows of several requests for one statement; later requests come last. Each call occurs once. The rows are
 * sorted by id, because writers of the same calls must lock them in one order.
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

/** The later row replaces the start or the end if it has one. What it lacks stays. */
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
