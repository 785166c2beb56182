import { eraseBlob, listUnneededBlobs, type RunningErasure } from '../../db/erasure/erase.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import type { FileDeps } from '../deletion/files.ts'

/** Erases the data set files that only erased data needed. Returns false if a request is writing one of them now. */
export async function eraseBlobs({ pool, artifacts }: FileDeps, erasure: RunningErasure): Promise<boolean> {
  let areFree = true
  for (const { digest, key } of await listUnneededBlobs(pool, erasure.entity, erasure.requestedAt)) {
    const remove = () => artifacts.remove(key)
    const isFree = await whileUnheld({ pool, schema: 'training' }, key, async () => {
      await eraseBlob(pool, erasure, { digest, remove })
      return true
    })
    areFree &&= isFree
  }
  return areFree
}
