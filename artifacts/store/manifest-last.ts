import type { ListedArtifact } from './store.ts'

/** What is listed, with a folder's manifest at the end: it says that the rest is there. */
export async function manifestLast(listed: AsyncIterable<ListedArtifact>, prefix: string): Promise<ListedArtifact[]> {
  const all: ListedArtifact[] = []
  for await (const item of listed) all.push(item)
  const isManifest = ({ key }: ListedArtifact) => key === `${prefix}manifest.json`
  return [...all.filter((item) => !isManifest(item)), ...all.filter(isManifest)]
}
