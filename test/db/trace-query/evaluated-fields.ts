import { readTree, textOfTree, type Tree } from './documents.ts'
import { objects, projectId, type CallRow } from './rows.ts'

export type Scalar = string | number | boolean

export type Value =
  | { type: 'literal'; value: Scalar | null }
  | { type: 'text'; value: string | null; isMissing?: boolean }
  | { type: 'number'; value: number | null }
  | { type: 'boolean'; value: boolean | null }
  /** Microseconds. */
  | { type: 'time'; value: number | null }

/** Values of several feedback rows. */
export interface Several {
  type: 'several'
  values: Value[]
}

export interface Context {
  row: CallRow
  expandColumns: string[]
}

type Reader = (row: CallRow) => Value

const columns: Record<string, Reader> = {
  id: (row) => ({ type: 'text', value: row.id }),
  project_id: () => ({ type: 'text', value: projectId }),
  trace_id: (row) => ({ type: 'text', value: row.traceId }),
  parent_id: (row) => ({ type: 'text', value: row.parentId }),
  thread_id: (row) => ({ type: 'text', value: row.threadId }),
  op_name: (row) => ({ type: 'text', value: row.opName }),
  display_name: (row) => ({ type: 'text', value: row.displayName }),
  exception: (row) => ({ type: 'text', value: row.exception }),
  wb_run_step: (row) => ({ type: 'number', value: row.wbRunStep }),
  started_at: (row) => ({ type: 'time', value: row.startedAt }),
  ended_at: (row) => ({ type: 'time', value: row.endedAt }),
  deleted_at: () => ({ type: 'time', value: null }),
  'summary.weave.status': (row) => ({ type: 'text', value: statusOf(row) }),
  'summary.weave.latency_ms': ({ startedAt, endedAt }) => ({
    type: 'number',
    value: endedAt === null ? null : Math.trunc((endedAt - startedAt) / 1_000),
  }),
  'summary.weave.trace_name': ({ displayName, opName }) => ({
    type: 'text',
    value: displayName ?? (opName.includes('/op/') ? opName.split('/op/')[1]!.split(':')[0]! : opName),
  }),
}

function statusOf({ exception, descendantErrors, endedAt }: CallRow): string {
  if (exception !== null) return 'error'
  if (descendantErrors) return 'descendant_error'
  return endedAt === null ? 'running' : 'success'
}

export function readField(path: string, { row, expandColumns }: Context): Value | Several {
  const column = columns[path]
  if (column) return column(row)
  if (path.startsWith('feedback.')) return readFeedback(path, row)
  const expanded = new Set(expandColumns)
  const segments = path.split(/(?<!\\)\./)
  let tree: Tree | undefined = row[segments[0] as 'inputs' | 'output' | 'summary' | 'attributes']
  for (let length = 1; length <= segments.length; length++) {
    if (length > 1) tree = readTree(tree, [segments[length - 1]!.replaceAll('\\.', '.')])
    const isExpanded = length < segments.length && expanded.has(segments.slice(0, length).join('.'))
    if (isExpanded) tree = lookThrough(tree)
  }
  const text = textOfTree(tree)
  return { type: 'text', value: text ?? '', isMissing: text === null }
}

function readFeedback(path: string, row: CallRow): Several {
  const end = path.lastIndexOf('].')
  const [type, member] = [path.slice('feedback.['.length, end), path.slice(end + 2)]
  const found = row.feedback
    .filter((feedback) => type === '*' || feedback.type === type)
    .map((feedback) => {
      if (member === 'runnable_ref') return feedback.runnableRef
      if (member === 'trigger_ref') return null
      const [, ...segments] = member.split(/(?<!\\)\./).map((segment) => segment.replaceAll('\\.', '.'))
      return textOfTree(readTree(feedback.payload, segments))
    })
    .filter((text) => text !== null)
  if (found.length === 0) return { type: 'several', values: [{ type: 'text', value: '', isMissing: true }] }
  return { type: 'several', values: found.map((value) => ({ type: 'text', value })) }
}

const prefix = `weave:///${projectId}/object/`

function lookThrough(tree: Tree | undefined, edges: string[] = [], looks = 0): Tree | undefined {
  if (tree === undefined || looks > 16) return undefined
  if (typeof tree === 'string' && tree.startsWith(prefix) && (looks === 0 || edges.length > 0)) {
    const [name = '', ...more] = tree.slice(prefix.length).split('/')
    return lookThrough(objects[name], [...more, ...edges], looks + 1)
  }
  const [edge, value = '', ...rest] = edges
  if (edge === undefined) return tree
  const isArray = Array.isArray(tree)
  if (edge === 'id' || (edge === 'index') !== isArray) return undefined
  return lookThrough(readTree(tree, [decodeURIComponent(value)]), rest, looks)
}
