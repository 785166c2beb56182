import type { Pool } from './pool.ts'

/** A request that is to be answered once. */
export interface KeyedRequest {
  entity: string
  key: string
  /** method and path */
  route: string
  /** sha256 of its body */
  digest: Buffer
}

/** The right to work on a request, for a while; `seed` stays the same when it passes to somebody else. */
export interface RequestClaim {
  entity: string
  key: string
  holder: string
  seed: string
}

// A process that died keeps a repetition waiting for so long.
const lockSeconds = 10
// Longer than any client repeats a request by itself.
const keptFor = "interval '24 hours'"

/**
 * Takes a request for the holder: one that is new, or that somebody left unanswered. Undefined when it is answered,
 * somebody works on it, or its key was used for another request.
 */
export async function claimRequest(
  pool: Pool,
  { entity, key, route, digest }: KeyedRequest,
  holder: string,
): Promise<RequestClaim | undefined> {
  const { rows } = await pool.query<{ seed: string }>(
    `INSERT INTO auth.idempotent_requests AS known (entity, key, route, digest, holder, locked_until)
     VALUES ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => ${lockSeconds}))
     ON CONFLICT (entity, key) DO UPDATE SET holder = excluded.holder, locked_until = excluded.locked_until
       WHERE known.answer IS NULL AND known.locked_until < clock_timestamp()
         AND known.route = excluded.route AND known.digest = excluded.digest
     RETURNING seed`,
    [entity, key, route, digest, holder],
  )
  return rows[0] && { entity, key, holder, seed: rows[0].seed }
}

/** The request that a key was used for, and its answer (JSON) if there is one. */
export async function findKeyedRequest(
  pool: Pool,
  { entity, key }: Pick<KeyedRequest, 'entity' | 'key'>,
): Promise<(KeyedRequest & { answer: string | null }) | undefined> {
  const { rows } = await pool.query<KeyedRequest & { answer: string | null }>(
    'SELECT entity, key, route, digest, answer FROM auth.idempotent_requests WHERE entity = $1 AND key = $2',
    [entity, key],
  )
  return rows[0]
}

/** Keeps others out for longer. */
export async function extendRequestClaim(pool: Pool, { entity, key, holder }: RequestClaim): Promise<void> {
  await pool.query(
    `UPDATE auth.idempotent_requests SET locked_until = clock_timestamp() + make_interval(secs => ${lockSeconds})
     WHERE entity = $1 AND key = $2 AND holder = $3`,
    [entity, key, holder],
  )
}

/** Keeps an answer (JSON), and gives the one that counts: of several it is the first. */
export async function answerRequest(pool: Pool, { entity, key, seed }: RequestClaim, answer: string): Promise<string> {
  const { rows } = await pool.query<{ answer: string }>(
    `UPDATE auth.idempotent_requests SET answer = coalesce(answer, $4)
     WHERE entity = $1 AND key = $2 AND seed = $3 RETURNING answer`,
    [entity, key, seed, answer],
  )
  return rows[0]?.answer ?? answer
}

/** Lets others work on it at once, with the same seed. */
export async function unlockRequest(pool: Pool, { entity, key, holder }: RequestClaim): Promise<void> {
  await pool.query(
    `UPDATE auth.idempotent_requests SET locked_until = '-infinity' WHERE entity = $1 AND key = $2 AND holder = $3`,
    [entity, key, holder],
  )
}

/** Frees a key whose request made nothing. */
export async function forgetRequest(pool: Pool, { entity, key, holder }: RequestClaim): Promise<void> {
  await pool.query(
    'DELETE FROM auth.idempotent_requests WHERE entity = $1 AND key = $2 AND holder = $3 AND answer IS NULL',
    [entity, key, holder],
  )
}

/** Frees the keys of requests that nobody repeats any more. */
export async function sweepKeyedRequests(pool: Pool): Promise<void> {
  await pool.query(`DELETE FROM auth.idempotent_requests WHERE created_at < clock_timestamp() - ${keptFor}`)
}
