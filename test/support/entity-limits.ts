import { changeEntityLimits, type SetLimits } from '../../db/accounts/limits.ts'
import { withInvalidation } from '../../db/changes.ts'
import type { Pool } from '../../db/pool.ts'

/** Changes limits of an entity. Afterwards no process answers by the old ones. */
export async function setLimits(pool: Pool, entity: string, limits: Partial<SetLimits>): Promise<void> {
  await withInvalidation(pool, (connection) => changeEntityLimits(connection, entity, limits))
}
