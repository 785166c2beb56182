import { badRequest } from '../errors.ts'
import { countStream } from '../read-memory.ts'
import { sendChunks, streamCost, type QueryDeps } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { writeArray } from '../write-list.ts'
import { maxRefBytes } from './ref-reader.ts'
import { resolveRefs } from './resolve-refs.ts'
import { refsReadSchema, refValuesSchema } from './schema.ts'

const maxRefs = 1_000

export function routeRefs(api: TraceApi, deps: QueryDeps): void {
  api.post(
    '/refs/read_batch',
    {
      tag: 'Refs',
      summary: 'Resolve references',
      description:
        'Returns values of objects and ops, or of parts of them, in the order of the references. Missing parts ' +
        'and deleted objects are null. A missing object or row is a 404 for the whole request.',
      role: 'read',
      body: refsReadSchema,
      answer: refValuesSchema,
      cost: streamCost,
    },
    async ({ ctx, caller, body }) => {
      if (body.refs.length > maxRefs) throw badRequest(`Too many refs: at most ${maxRefs} are read at once`)
      const bounds = { maxBytes: maxRefBytes, reserve: countStream(deps.memory.open(ctx)).add }
      const texts = readLater(() => resolveRefs(deps, { caller, bounds }, body.refs))
      await sendChunks(ctx, deps, { type: 'application/json', chunks: writeArray('{"vals":', texts, '}') })
    },
  )
}

/** Delays the read until the response has its stream permit. */
async function* readLater(read: () => Promise<string[]>): AsyncGenerator<string> {
  yield* await read()
}
