import type { IdempotencyStore, KeyedRequest, RequestClaim } from '../lib/http/idempotency.ts'
import type { Pool } from './pool.ts'

// After a process died, a repeated request waits this long.
const lockSeconds = 10
// No client repeats a request by itself for this long.
const keptFor = "interval '24 hours'"

/** Stores keyed requests and their answers. The owner of an Idempotency-Key is an entity. */
export function createIdempotencyStore(pool: Pool): IdempotencyStore {
  return {
    claim: (request, holder) => claimRequest(pool, request, holder),
    find: (request) => findKeyedRequest(pool, request),
    extend: (claim) => extendRequestClaim(pool, claim),
    answer: (claim, answer) => answerRequest(pool, claim, answer),
    unlock: (claim) => unlockRequest(pool, claim),
    forget: (claim) => forgetRequest(pool, claim),
  }
}

async function claimRequest(
  pool: Pool,
  { owner, key, route, digest }: KeyedRequest,
  holder: string,
): Promise<RequestClaim | undefined> {
  const { rows } = await pool.query<{ seed: string }>(
    `INSERT INTO auth.idempotent_requests AS known (entity, key, route, digest, holder, locked_until)
     VALUES ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => ${lockSeconds}))
     ON CONFLICT (entity, key) DO UPDATE SET holder = excluded.holder, locked_until = excluded.locked_until
       WHERE known.answer IS NULL AND known.locked_until < clock_timestamp()
         AND known.route = excluded.route AND known.digest = excluded.digest
     RETURNING seed`,
    [owner, key, route, digest, holder],
  )
  return rows[0] && { owner, key, holder, seed: rows[0].seed }
}

async function findKeyedRequest(
  pool: Pool,
  { owner, key }: Pick<KeyedRequest, 'owner' | 'key'>,
): Promise<(KeyedRequest & { answer: string | null }) | undefined> {
  const { rows } = await pool.query<KeyedRequest & { answer: string | null }>(
    'SELECT entity AS owner, key, route, digest, answer FROM auth.idempotent_requests WHERE entity = $1 AND key = $2',
    [owner, key],
  )
  return rows[0]
}

async function extendRequestClaim(pool: Pool, { owner, key, holder }: RequestClaim): Promise<void> {
  await pool.query(
    `UPDATE auth.idempotent_requests SET locked_until = clock_timestamp() + make_interval(secs => ${lockSeconds})
     WHERE entity = $1 AND key = $2 AND holder = $3`,
    [owner, key, holder],
  )
}

async function answerRequest(pool: Pool, { owner, key, seed }: RequestClaim, answer: string): Promise<string> {
  const { rows } = await pool.query<{ answer: string }>(
    `UPDATE auth.idempotent_requests SET answer = coalesce(answer, $4)
     WHERE entity = $1 AND key = $2 AND seed = $3 RETURNING answer`,
    [owner, key, seed, answer],
  )
  return rows[0]?.answer ?? answer
}

async function unlockRequest(pool: Pool, { owner, key, holder }: RequestClaim): Promise<void> {
  await pool.query(
    `UPDATE auth.idempotent_requests SET locked_until = '-infinity' WHERE entity = $1 AND key = $2 AND holder = $3`,
    [owner, key, holder],
  )
}

async function forgetRequest(pool: Pool, { owner, key, holder }: RequestClaim): Promise<void> {
  await pool.query(
    'DELETE FROM auth.idempotent_requests WHERE entity = $1 AND key = $2 AND holder = $3 AND answer IS NULL',
    [owner, key, holder],
  )
}

/** Deletes keyed requests that nobody repeats any more. */
export async function expireKeyedRequests(pool: Pool): Promise<void> {
  await pool.query(`DELETE FROM auth.idempotent_requests WHERE created_at < clock_timestamp() - ${keptFor}`)
}
