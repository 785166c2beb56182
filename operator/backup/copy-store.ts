import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { ArtifactMissing } from '../../artifacts/store/missing.ts'
import { forEachConcurrent } from '../../artifacts/store/for-each-concurrent.ts'
import { signFolder } from '../gc/signs.ts'

const atOnce = 8

/** Copies all objects of a store, without the signs of its installations. @returns what was copied */
export async function copyStore(from: ArtifactStore, to: ArtifactStore): Promise<{ objects: number; bytes: number }> {
  const copied = { objects: 0, bytes: 0 }
  await forEachConcurrent(from.list(''), atOnce, async ({ key }) => {
    if (key.startsWith(`${signFolder}/`)) return
    try {
      const { size } = await to.put(key, await from.open(key))
      copied.bytes += size
      copied.objects++
    } catch (error) {
      // Something that no row points at, such as the payload of a rejected request: nothing else is removed meanwhile.
      if (!(error instanceof ArtifactMissing)) throw error
    }
  })
  return copied
}
