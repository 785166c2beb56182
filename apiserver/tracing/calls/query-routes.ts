import { Type } from 'typebox'
import { rawText, rawObject } from '../../json/raw.ts'
import type { TraceDeps } from '../deps.ts'
import { sendChunks } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { callSchema, callsQuerySchema, readBodySchema, statsQuerySchema, statsSchema } from './query-schema.ts'
import { countFoundCalls, findCall, findCalls } from './service.ts'

const tag = 'Calls'
const lines = 'application/jsonl'

export function routeCallQueries(api: TraceApi, deps: TraceDeps): void {
  api.post(
    '/calls/stream_query',
    { tag, summary: 'Find calls', role: 'read', body: callsQuerySchema, otherAnswers: { [lines]: callSchema } },
    async ({ ctx, caller, body }) =>
      sendChunks(ctx, deps, { type: lines, chunks: writeLines(findCalls(deps, caller, body)) }),
  )

  api.post(
    '/calls/query',
    {
      tag,
      summary: 'Find calls, answered as one list',
      role: 'read',
      body: callsQuerySchema,
      answer: Type.Object({ calls: Type.Array(callSchema) }),
    },
    async ({ ctx, caller, body }) =>
      sendChunks(ctx, deps, { type: 'application/json', chunks: writeList(findCalls(deps, caller, body)) }),
  )

  api.post(
    '/calls/query_stats',
    { tag, summary: 'Count calls', role: 'read', body: statsQuerySchema, answer: statsSchema },
    ({ caller, body }) => countFoundCalls(deps, caller, body),
  )

  api.post(
    '/call/read',
    {
      tag,
      summary: 'Read one call',
      role: 'read',
      body: readBodySchema,
      answer: Type.Object({ call: Type.Unsafe<unknown>({ anyOf: [callSchema, { type: 'null' }] }) }),
    },
    async ({ caller, body }) => {
      const call = await findCall(deps, caller, body)
      return rawObject({ call: call === undefined ? null : rawText(call) })
    },
  )
}

async function* writeLines(chunks: AsyncIterable<string[]>): AsyncGenerator<string> {
  // Line breaks in a payload stand between its values, where a space does as well.
  for await (const calls of chunks) {
    yield calls.map((call) => (/[\n\r]/.test(call) ? call.replaceAll(/[\n\r]+/g, ' ') : call)).join('\n') + '\n'
  }
}

async function* writeList(chunks: AsyncIterable<string[]>): AsyncGenerator<string> {
  let separator = '{"calls":['
  for await (const calls of chunks) {
    yield separator + calls.join(',')
    separator = ','
  }
  yield separator === ',' ? ']}' : `${separator}]}`
}
