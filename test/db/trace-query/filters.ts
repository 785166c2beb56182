import fc from 'fast-check'
import type { CallsFilter } from '../../../apiserver/tracing/query/calls-filter.ts'
import { projectId, refs, type CallRow } from './rows.ts'

const names = (...values: string[]) => fc.option(fc.subarray([...values, 'nowhere']), { nil: null, freq: 2 })

const opRef = `weave:///${projectId}/op`

export const filter: fc.Arbitrary<CallsFilter> = fc.record(
  {
    op_names: names(
      'x',
      'abc',
      `${opRef}/abc:d1`,
      `${opRef}/abc:*`,
      `${opRef}/abcd:*`,
      `${opRef}/ab:*`,
      ':*',
      'x:*',
      '%:*',
    ),
    input_refs: names(...refs),
    parent_ids: names('c1', 'c2'),
    trace_ids: names('t1', 't2'),
    call_ids: names('c1', 'c2', 'c3', 'c10', 'c20'),
    thread_ids: names('h1', ''),
    trace_roots_only: fc.constantFrom(true, false, null),
  },
  { requiredKeys: [] },
)

export function matchesFilter(row: CallRow, wanted: CallsFilter): boolean {
  const { op_names: ops, input_refs: inputRefs, thread_ids: threads, trace_roots_only: rootsOnly } = wanted
  return (
    (!ops?.length || ops.some((name) => matchesOp(row.opName, name))) &&
    (!inputRefs?.length || inputRefs.some((ref) => row.inputRefs?.includes(ref))) &&
    isOneOf(row.parentId, wanted.parent_ids) &&
    isOneOf(row.traceId, wanted.trace_ids) &&
    isOneOf(row.id, wanted.call_ids) &&
    (!threads || (row.threadId !== null && threads.includes(row.threadId))) &&
    (!rootsOnly || row.parentId === null)
  )
}

function isOneOf(value: string | null, values: string[] | null | undefined): boolean {
  return !values?.length || (value !== null && values.includes(value))
}

function matchesOp(opName: string, wanted: string): boolean {
  return wanted.endsWith(':*') ? opName.startsWith(wanted.slice(0, -1)) : opName === wanted
}
