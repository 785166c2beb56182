import { rawList, rawObject, rawText } from '../../../lib/json/raw.ts'
import type { FeedbackDeps } from './annotation-spec.ts'
import { readPurgeIds } from '../query/purge-ids.ts'
import { purgeSchema, rowsQuerySchema } from '../query/schema.ts'
import { emptySchema } from '../schema.ts'
import { sendChunks, streamCost, type QueryDeps } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { writeArray } from '../write-list.ts'
import { presentStored } from './present.ts'
import { queryFeedback } from './query.ts'
import {
  feedbackBatchAnswerSchema,
  feedbackBatchSchema,
  feedbackBatchTexts,
  feedbackCreateSchema,
  feedbackReplaceSchema,
  feedbackRowsSchema,
  feedbackSchema,
  feedbackTexts,
} from './schema.ts'
import { createBatch, createFeedback, purgeFeedback, replaceWith } from './service.ts'

const tag = 'Feedback'

/** Feedback of people and scorers on calls and objects. */
export function routeFeedback(api: TraceApi, deps: FeedbackDeps & QueryDeps): void {
  routeWrites(api, deps)

  api.post(
    '/feedback/query',
    {
      tag,
      summary: 'Find feedback',
      description:
        'Returns the requested fields, by default all. `payload.a.b` is a string. `count(*)` alone returns the ' +
        'number of rows.',
      role: 'read',
      body: rowsQuerySchema,
      answer: feedbackRowsSchema,
      cost: streamCost,
    },
    async ({ ctx, caller, body }) => {
      const rows = queryFeedback(deps.pool, await deps.projects.find(caller, body.project_id), body)
      await sendChunks(ctx, deps, { type: 'application/json', chunks: writeArray('{"result":', rows, '}') })
    },
  )

  api.post(
    '/feedback/purge',
    {
      tag,
      summary: 'Delete feedback permanently',
      description: 'The query must select ids: `$eq` of the field id and a string, or an `$or` of these.',
      body: purgeSchema,
      answer: emptySchema,
    },
    async ({ caller, body }) => {
      const ids = readPurgeIds(body.query.$expr, { takesIn: false })
      await purgeFeedback(deps.pool, await deps.projects.find(caller, body.project_id), ids)
      return {}
    },
  )
}

function routeWrites(api: TraceApi, deps: FeedbackDeps): void {
  api.post(
    '/feedback/create',
    {
      tag,
      summary: 'Create feedback on a call or an object',
      stores: true,
      description:
        'If the id exists already, the request counts as a repeated one: it changes nothing, and returns the ' +
        'existing feedback.',
      body: feedbackCreateSchema,
      texts: feedbackTexts,
      answer: feedbackSchema,
    },
    async ({ caller, body }) => presentStored(await createFeedback(deps, caller, body)),
  )

  api.post(
    '/feedback/batch/create',
    {
      tag,
      summary: 'Create feedback in a batch',
      stores: true,
      description:
        'Either all items are stored or none. A 422 names the first invalid item; clients then send the others ' +
        'again.',
      body: feedbackBatchSchema,
      texts: feedbackBatchTexts,
      answer: feedbackBatchAnswerSchema,
    },
    async ({ caller, body }) => {
      const stored = await createBatch(deps, caller, body.batch)
      return rawObject({ res: rawText(rawList(stored.map(presentStored))) })
    },
  )

  api.post(
    '/feedback/replace',
    {
      tag,
      summary: 'Replace feedback',
      stores: true,
      body: feedbackReplaceSchema,
      texts: feedbackTexts,
      answer: feedbackSchema,
    },
    async ({ caller, body }) => presentStored(await replaceWith(deps, caller, body)),
  )
}
