import { eraseBlob, listUnneededBlobs, type RunningErasure } from '../../db/erasure/erase.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import { keyOf } from '../../artifacts/layout.ts'
import type { Context } from '../context.ts'

type Deps = Pick<Context, 'pool' | 'artifacts'>

/** Removes files of data sets that nothing needs without what was erased; false when one of them is written just now. */
export async function eraseBlobs({ pool, artifacts }: Deps, erasure: RunningErasure): Promise<boolean> {
  let areFree = true
  for (const digest of await listUnneededBlobs(pool, erasure.entity, erasure.requestedAt)) {
    const key = keyOf('blob', { entity: erasure.entity, digest })
    const remove = () => artifacts.remove(key)
    const isFree = await whileUnheld({ pool, schema: 'training' }, key, async () => {
      await eraseBlob(pool, erasure, { digest, remove })
      return true
    })
    areFree &&= isFree
  }
  return areFree
}
