import { Type } from 'typebox'
import { rawText, rawObject } from '../../../lib/json/raw.ts'
import { countRead, countStream } from '../read-memory.ts'
import { sendChunks, streamCost, type QueryDeps } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { writeArray, writeLine } from '../write-list.ts'
import { callSchema, callsQuerySchema, readBodySchema, statsQuerySchema, statsSchema } from './query-schema.ts'
import { countFoundCalls, findCall, findCalls, type CallDeps } from './service.ts'

export interface CallQueryDeps extends CallDeps, QueryDeps {}

const tag = 'Calls'
const lines = 'application/jsonl'

export function routeCallQueries(api: TraceApi, deps: CallQueryDeps): void {
  api.post(
    '/calls/stream_query',
    {
      tag,
      summary: 'Find calls',
      role: 'read',
      body: callsQuerySchema,
      otherAnswers: { [lines]: callSchema },
      cost: streamCost,
    },
    async ({ ctx, caller, body }) => {
      const reading = countStream(deps.memory.open(ctx))
      await sendChunks(ctx, deps, { type: lines, chunks: writeChunks(findCalls(deps, { caller, reading }, body)) })
    },
  )

  api.post(
    '/calls/query',
    {
      tag,
      summary: 'Find calls and get them as one list',
      role: 'read',
      body: callsQuerySchema,
      answer: Type.Object({ calls: Type.Array(callSchema) }),
      cost: streamCost,
    },
    async ({ ctx, caller, body }) => {
      const reading = countStream(deps.memory.open(ctx))
      const calls = flatten(findCalls(deps, { caller, reading }, body))
      await sendChunks(ctx, deps, { type: 'application/json', chunks: writeArray('{"calls":', calls, '}') })
    },
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
      summary: 'Get a call',
      role: 'read',
      body: readBodySchema,
      countsOwnReads: true,
      answer: Type.Object({ call: Type.Unsafe<unknown>({ anyOf: [callSchema, { type: 'null' }] }) }),
    },
    async ({ ctx, caller, body }) => {
      const call = await findCall(deps, { caller, reading: countRead(deps.memory.open(ctx)) }, body)
      return rawObject({ call: call === undefined ? null : rawText(call) })
    },
  )
}

/** The lines of each chunk are sent at once, so that the first calls do not wait for others. */
async function* writeChunks(chunks: AsyncIterable<string[]>): AsyncGenerator<string> {
  for await (const calls of chunks) yield calls.map(writeLine).join('')
}

async function* flatten(chunks: AsyncIterable<string[]>): AsyncGenerator<string> {
  for await (const calls of chunks) yield* calls
}
