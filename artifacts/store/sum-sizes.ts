import type { ArtifactStore } from './store.ts'

/** The bytes of all objects below a prefix. */
export async function sumSizes(store: Pick<ArtifactStore, 'list'>, prefix: string): Promise<number> {
  let bytes = 0
  for await (const { size } of store.list(prefix)) bytes += size
  return bytes
}
