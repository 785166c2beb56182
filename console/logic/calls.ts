/** A call as the API answers with it. Only the asked columns are there. */
export interface Call {
  id: string
  trace_id: string
  parent_id?: string | null
  op_name: string
  display_name?: string | null
  thread_id?: string | null
  started_at: string
  ended_at?: string | null
  exception?: string | null
  summary?: Summary
  inputs?: unknown
  output?: unknown
  attributes?: unknown
  storage_size_bytes?: number
}

interface Summary {
  usage?: unknown
  weave?: {
    status?: CallStatus
    latency_ms?: number
    costs?: Record<string, { prompt_tokens_total_cost?: number; completion_tokens_total_cost?: number }>
    feedback?: Feedback[]
  }
}

export const callStatuses = ['success', 'error', 'descendant_error', 'running'] as const
export type CallStatus = (typeof callStatuses)[number]

export interface Feedback {
  id: string
  feedback_type: string
  payload: Record<string, unknown>
  creator?: string | null
  wb_user_id?: string | null
  created_at: string
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The parts of a reference: `weave:///ENTITY/PROJECT/KIND/NAME:VERSION`. Undefined for any other text. */
export function readRef(text: string) {
  const [, entity = '', project = '', kind = '', rest = ''] =
    /^weave:\/\/\/([^/]+)\/([^/]+)\/(op|object|call|table)\/([^/]+)/.exec(text) ?? []
  if (entity === '') return undefined
  const [name = '', version = ''] = rest.split(':').map(decode)
  return { entity, project, kind: kind as 'op' | 'object' | 'call' | 'table', name, version }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The name of an op without its version. */
export function nameOp(opName: string): string {
  return readRef(opName)?.name ?? opName
}

/** What a call is called: by its user, else by its op. */
export function nameCall(call: Pick<Call, 'display_name' | 'op_name'>): string {
  return call.display_name ? call.display_name : nameOp(call.op_name)
}

export function statusOf({ exception, ended_at: endedAt, summary }: Call): CallStatus {
  return summary?.weave?.status ?? (exception ? 'error' : endedAt ? 'success' : 'running')
}

/** How long a call took, in milliseconds. Undefined while it runs. */
export function latencyOf({ started_at: startedAt, ended_at: endedAt }: Call): number | undefined {
  return endedAt ? Math.max(0, millisecondsOf(endedAt) - millisecondsOf(startedAt)) : undefined
}

/** Milliseconds since 1970, with those after the point: times have microseconds, and Date.parse drops them. */
export function millisecondsOf(time: string): number {
  const micros = /\.\d{3}(\d{1,3})/.exec(time)?.[1] ?? ''
  return Date.parse(time) + Number(micros.padEnd(3, '0')) / 1000
}

const count = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** The models that a call has used, with their tokens. */
export function listUsage({ summary }: Pick<Call, 'summary'>): { model: string; prompt: number; completion: number }[] {
  if (!isObject(summary?.usage)) return []
  return Object.entries(summary.usage).flatMap(([model, used]) => {
    if (!isObject(used)) return []
    const prompt = count(used['prompt_tokens']) ?? count(used['input_tokens']) ?? 0
    const known = count(used['completion_tokens']) ?? count(used['output_tokens'])
    return [{ model, prompt, completion: known ?? Math.max(0, (count(used['total_tokens']) ?? prompt) - prompt) }]
  })
}

/** All tokens of a call. Undefined if nothing is known of any. */
export function tokensOf(call: Pick<Call, 'summary'>): number | undefined {
  const usage = listUsage(call)
  return usage.length === 0 ? undefined : usage.reduce((sum, { prompt, completion }) => sum + prompt + completion, 0)
}

/** What a call cost, in the currency of its prices. Undefined if no model has a price. */
export function costOf({ summary }: Pick<Call, 'summary'>): number | undefined {
  const costs = Object.values(summary?.weave?.costs ?? {})
  if (costs.length === 0) return undefined
  return costs.reduce(
    (sum, cost) => sum + (cost.prompt_tokens_total_cost ?? 0) + (cost.completion_tokens_total_cost ?? 0),
    0,
  )
}

/** The value at a path of a call, such as `inputs.question` or `attributes.a.b`. A dot in a name has a backslash. */
export function valueAt(call: Call, path: string): unknown {
  return splitPath(path).reduce<unknown>((value, name) => {
    if (Array.isArray(value)) return value[Number(name)]
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }, call)
}

export function splitPath(path: string): string[] {
  return path.split(/(?<!\\)\./).map((part) => part.replaceAll('\\.', '.'))
}

export function joinPath(parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll('.', '\\.')).join('.')
}

const payloads = ['attributes', 'inputs', 'output'] as const
const maxPaths = 200

/** The paths in these calls that can be columns: the payloads, and the members of them down to two levels. */
export function listPaths(calls: readonly Call[]): string[] {
  const paths = new Set<string>(['inputs', 'output'])
  const visit = (value: unknown, parts: string[]) => {
    if (!isObject(value) || paths.size >= maxPaths) return
    for (const [name, member] of Object.entries(value)) {
      paths.add(joinPath([...parts, name]))
      if (parts.length < 2) visit(member, [...parts, name])
    }
  }
  for (const call of calls) for (const name of payloads) visit(call[name], [name])
  return [...paths].toSorted()
}

/** A value in one line. */
export function writeCell(value: unknown, maxLength = 200): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const line = text.slice(0, 2 * maxLength).replaceAll(/\s+/g, ' ')
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line
}
