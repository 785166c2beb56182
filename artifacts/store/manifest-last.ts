import type { ListedArtifact } from './store.ts'

/** Yields a folder's listed objects with the manifest last, because the manifest says that the others exist. */
export async function manifestLast(listed: AsyncIterable<ListedArtifact>, prefix: string): Promise<ListedArtifact[]> {
  const all: ListedArtifact[] = []
  for await (const item of listed) all.push(item)
  const isManifest = ({ key }: ListedArtifact) => key === `${prefix}manifest.json`
  return [...all.filter((item) => !isManifest(item)), ...all.filter(isManifest)]
}
