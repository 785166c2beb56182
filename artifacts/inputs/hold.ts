import type { Pool } from '../../db/pool.ts'
import { whileHoldingKey } from '../../db/store/held-keys.ts'
import { artifactKey } from '../store/keys.ts'
import type { ArtifactStore } from '../store/store.ts'
import { InputError } from './address.ts'

/**
 * Holds an input in the store while `commit` writes the row of the job that uses it. Inputs that are fetched later need
 * no hold.
 *
 * @throws {InputError} when the input was removed after it was found
 */
export async function whileHoldingInput<T>(
  { pool, artifacts }: { pool: Pool; artifacts: ArtifactStore },
  uri: string,
  commit: () => Promise<T>,
): Promise<T> {
  const key = artifactKey(uri)
  if (key === undefined) return commit()
  const requireThere = async () => {
    if (!(await artifacts.stat(key))) throw new InputError('InputNotFound', 'it was just deleted; upload it again')
  }
  return whileHoldingKey({ pool, schema: 'training' }, key, { store: requireThere, commit })
}
