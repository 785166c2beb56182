import { badRequest } from '../errors.ts'
import type { Static } from 'typebox'
import {
  streamThreads,
  threadSortFields,
  type ThreadPage,
  type ThreadRow,
  type ThreadSort,
} from '../../../db/tracing/threads.ts'
import { parseInstant } from '../instants.ts'
import { checkNames } from '../query/params.ts'
import type { SortKey } from '../query/schema.ts'
import { sendChunks, streamCost, type QueryDeps } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { writeLines } from '../write-list.ts'
import { threadSchema, threadsQuerySchema } from './schema.ts'

type WireQuery = Static<typeof threadsQuerySchema>

/** Conversations: calls that share a thread. */
export function routeThreads(api: TraceApi, deps: QueryDeps): void {
  api.post(
    '/threads/stream_query',
    {
      tag: 'Threads',
      summary: 'Find threads',
      description:
        'The answer has one thread in each line. Its fields are computed from its turns, the outermost calls in ' +
        'it. A thread without an ended turn is left out.',
      role: 'read',
      body: threadsQuerySchema,
      otherAnswers: { 'application/jsonl': threadSchema },
      cost: streamCost,
    },
    async ({ ctx, caller, body }) => {
      const page = readPage(body)
      const project = await deps.projects.find(caller, body.project_id)
      const threads = writeThreads(streamThreads(deps.pool, project.number, page))
      await sendChunks(ctx, deps, { type: 'application/jsonl', chunks: writeLines(threads) })
    },
  )
}

async function* writeThreads(chunks: AsyncIterable<ThreadRow[]>): AsyncGenerator<string> {
  for await (const chunk of chunks) for (const row of chunk) yield JSON.stringify(row)
}

function readPage({ filter, sort_by: sortBy, limit, offset }: WireQuery): ThreadPage {
  const threadIds = filter?.thread_ids ?? []
  checkNames(threadIds)
  return {
    after: readTime(filter?.after_datetime),
    before: readTime(filter?.before_datetime),
    // An empty list means no filter.
    threadIds: threadIds.length > 0 ? threadIds : null,
    sort: sortBy?.length ? readSorts(sortBy) : [{ field: 'last_updated', direction: 'desc' }],
    limit: limit ?? null,
    offset: offset ?? 0,
  }
}

/** The schema admits only valid times. */
function readTime(text: string | null | undefined): string | null {
  return text ? parseInstant(text)! : null
}

/** If a field is given twice, the first one counts. */
function readSorts(sortBy: SortKey[]): ThreadSort[] {
  const sorts = new Map<ThreadSort['field'], ThreadSort>()
  for (const sort of sortBy.map(readSort)) if (!sorts.has(sort.field)) sorts.set(sort.field, sort)
  return [...sorts.values()]
}

function readSort({ field: name, direction }: SortKey): ThreadSort {
  const field = threadSortFields.find((known) => known === name)
  if (field) return { field, direction }
  throw badRequest(`Unsupported sort field: ${name.slice(0, 300)}. Supported fields: ${threadSortFields.join(', ')}`)
}
