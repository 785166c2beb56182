import type { Pool } from '../../db/pool.ts'
import { whileHoldingKey } from '../../db/store/held-keys.ts'
import { artifactKey } from '../store/keys.ts'
import type { ArtifactStore } from '../store/store.ts'
import { InputError } from './address.ts'

/**
 * Keeps an input in the store while `commit` writes down that a job trains on it. What is fetched later needs no keeping.
 *
 * @throws {InputError} when it was removed since it was found
 */
export async function whileHoldingInput<T>(
  { pool, artifacts }: { pool: Pool; artifacts: ArtifactStore },
  uri: string,
  commit: () => Promise<T>,
): Promise<T> {
  const key = artifactKey(uri)
  if (key === undefined) return commit()
  return whileHoldingKey({ pool, schema: 'training' }, key, async () => {
    if (await artifacts.stat(key)) return commit()
    throw new InputError('InputNotFound', 'it was just deleted; upload it again')
  })
}
