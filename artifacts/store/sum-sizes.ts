import type { ArtifactStore } from './store.ts'

/** The number of objects below a prefix, and their bytes. */
export async function measurePrefix(
  store: Pick<ArtifactStore, 'list'>,
  prefix: string,
): Promise<{ objects: number; bytes: number }> {
  const measured = { objects: 0, bytes: 0 }
  for await (const { size } of store.list(prefix)) {
    measured.objects++
    measured.bytes += size
  }
  return measured
}

/** The bytes of all objects below a prefix. */
export async function sumSizes(store: Pick<ArtifactStore, 'list'>, prefix: string): Promise<number> {
  return (await measurePrefix(store, prefix)).bytes
}
