import type { Pool } from '../pool.ts'
import type { ResponseRow, ResponseTexts } from './responses.ts'

/** One response on the way from a conversation's newest to its first. */
export type ConversationStep = Pick<ResponseRow, 'id' | 'previousId' | 'rootId'> & {
  /** The bytes of this response and all newer ones. */
  totalBytes: number
}

export interface ConversationLimits {
  maxResponses: number
  maxBytes: number
}

/**
 * Lists a response and the responses that it continues, newest first. If they exceed a limit, one more than the limit
 * allows is listed.
 */
export async function listConversation(
  pool: Pool,
  { entity, id }: Pick<ResponseRow, 'entity' | 'id'>,
  { maxResponses, maxBytes }: ConversationLimits,
): Promise<ConversationStep[]> {
  const { rows } = await pool.query<ConversationStep>(
    `WITH RECURSIVE steps AS (
       SELECT id, previous_id, root_id, bytes::numeric AS total, 1 AS depth
       FROM training.responses WHERE id = $2 AND entity = $1
       UNION ALL
       SELECT r.id, r.previous_id, r.root_id, s.total + r.bytes, s.depth + 1
       FROM steps s JOIN training.responses r ON r.id = s.previous_id AND r.entity = $1
       WHERE s.total <= $3 AND s.depth <= $4
     )
     SELECT id, previous_id AS "previousId", root_id AS "rootId", total::bigint AS "totalBytes" FROM steps ORDER BY depth`,
    [entity, id, maxBytes, maxResponses],
  )
  return rows
}

/** Reads the texts of responses in the order of `ids`. Deleted responses are missing. */
export async function readResponses(pool: Pool, entity: string, ids: readonly string[]): Promise<ResponseTexts[]> {
  const { rows } = await pool.query<ResponseTexts>(
    `SELECT r.input, r.response FROM unnest($2::text[]) WITH ORDINALITY AS wanted (id, depth)
     JOIN training.responses r ON r.id = wanted.id AND r.entity = $1 ORDER BY wanted.depth`,
    [entity, ids],
  )
  return rows
}

/** The bytes of responses together. */
export async function measureResponses(pool: Pool, entity: string, ids: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM training.responses WHERE entity = $1 AND id = ANY ($2::text[])',
    [entity, ids],
  )
  return rows[0]!.bytes
}
