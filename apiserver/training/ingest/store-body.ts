import { whileHoldingKey } from '../../../db/store/held-keys.ts'
import { payloadKey } from '../../../lib/artifact-store/payloads.ts'
import type { StoredArtifact } from '../../../lib/artifact-store/store.ts'
import type { Deps } from '../../deps.ts'
import { keepStorable, type SpooledBody } from './spool.ts'

/**
 * Gives a spooled body to the store, as it came, and commits what points at it. The same body twice is one object: nobody
 * removes it before the commit.
 */
export function storeBody<T>(
  deps: Deps,
  { entity, body }: { entity: string; body: SpooledBody },
  commit: (stored: StoredArtifact) => Promise<T>,
): Promise<T> {
  const { file, size } = body
  const digest = body.digest.toString('hex')
  const key = payloadKey(entity, digest)
  return whileHoldingKey({ pool: deps.pool, schema: 'training' }, key, async () =>
    commit(await keepStorable(deps, () => deps.artifacts.adopt(key, file, { digest, size }))),
  )
}
