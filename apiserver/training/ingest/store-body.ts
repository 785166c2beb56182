import type { Connection, Pool } from '../../../db/pool.ts'
import { whileHoldingKey, whileUnheld } from '../../../db/store/held-keys.ts'
import { readInstallation } from '../../../db/store/installation.ts'
import { referToPayloads } from '../../../db/store/references.ts'
import { isDatabaseUnavailable } from '../../../db/unavailable.ts'
import { keyOf } from '../../../artifacts/layout.ts'
import type { StoredArtifact, ArtifactStore } from '../../../artifacts/store/store.ts'
import type { Logger } from '../../../lib/log.ts'
import { writeToStore } from '../../errors/write-to-store.ts'
import type { SpooledBody } from './spool.ts'

/** What storing payloads needs. */
export interface PayloadDeps {
  artifacts: ArtifactStore
  log: Logger
  pool: Pool
}

/**
 * Stores a spooled body unchanged, and commits the row that refers to it. Equal bodies are one object: nobody removes
 * it before the commit. If the commit fails and no row refers to the object, it is removed again.
 */
export async function storeBody<T>(
  deps: PayloadDeps,
  { entity, body }: { entity: string; body: SpooledBody },
  commit: (stored: StoredArtifact) => Promise<T>,
): Promise<T> {
  const { file, size } = body
  const digest = body.digest.toString('hex')
  const key = keyOf('payload', { entity, digest })
  const stored = { isThere: false }
  try {
    return await whileHoldingKey({ pool: deps.pool, schema: 'training' }, key, {
      store: async () => {
        const artifact = await writeToStore(deps.log, 'body', () => deps.artifacts.adopt(key, file, { digest, size }))
        stored.isThere = true
        return artifact
      },
      commit,
    })
  } catch (error) {
    // If the answer of a commit is lost, the commit may have succeeded.
    if (stored.isThere && !isDatabaseUnavailable(error)) await removeSpare(deps, key)
    throw error
  }
}

/** If the removal fails, garbage collection does it. It also does it if the store is not ours alone. */
async function removeSpare({ pool, artifacts, log }: PayloadDeps, key: string): Promise<void> {
  const remove = async (connection: Connection) => {
    const [reference] = await referToPayloads(connection, [key])
    const { trouble } = await readInstallation(connection)
    if (reference?.referenced === false && trouble === null) await artifacts.remove(key)
    return true
  }
  await whileUnheld({ pool, schema: 'training' }, key, remove).catch((error: unknown) =>
    log.warn({ key, error }, 'a payload that was not taken in is left in the artifact store'),
  )
}
