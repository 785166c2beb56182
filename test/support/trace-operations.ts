import { readOpenApi } from '../../tools/openapi.ts'

/** The used part of a schema in the document. */
export interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema
  anyOf?: Schema[]
  then?: Schema
  enum?: unknown[]
  const?: unknown
  format?: string
}

/** An operation of the tracing group in its document. */
export interface TraceOperation {
  method: string
  path: string
  /** The schema of a JSON body. */
  body?: Schema
  /** The other media types of the body. */
  mediaTypes: string[]
  queryNames: string[]
  statuses: number[]
}

interface Described {
  parameters: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, unknown>
}

/** Every operation of the tracing group that the API documents. */
export async function listTraceOperations(): Promise<TraceOperation[]> {
  const { paths } = await readOpenApi<Described>('/traces')
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => {
      const { 'application/json': json, ...others } = requestBody?.content ?? {}
      return {
        method: method.toUpperCase(),
        path,
        // The JSON schema of a streamed body does not describe it.
        ...(json && Object.keys(others).length === 0 && { body: json.schema }),
        mediaTypes: Object.keys(others),
        queryNames: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
        statuses: Object.keys(responses).map(Number),
      }
    }),
  )
}

/** Makes a value for a schema: required members, and members that `values` has by name. */
export function makeValue(schema: Schema, values: Record<string, unknown>, name = ''): unknown {
  if (Object.hasOwn(values, name)) return values[name]
  const { anyOf, properties, items, additionalProperties, required = [] } = schema
  if (anyOf) return makeValue(anyOf[0]!, values, name)
  if (items) return [makeValue(items, values)]
  if (additionalProperties) return { [String(values['name'])]: makeValue(additionalProperties, values) }
  if (!properties) return makeScalar(schema, name)
  // The items of a batch choose one of two schemas with `if`.
  const all = { ...properties, ...schema.then?.properties }
  const wanted = Object.keys(all).filter((member) => required.includes(member) || Object.hasOwn(values, member))
  return Object.fromEntries(wanted.map((member) => [member, makeValue(all[member]!, values, member)]))
}

function makeScalar({ type, enum: choices, const: only, format }: Schema, name: string): unknown {
  const kind = Array.isArray(type) ? type[0] : type
  if (choices) return choices[0]
  if (only !== undefined) return only
  if (format === 'date-time' || name.endsWith('_at')) return '2026-11-21T10:00:00Z'
  if (kind === 'string') return 'text'
  if (kind === 'integer' || kind === 'number') return 1
  return kind === 'boolean' ? true : {}
}
