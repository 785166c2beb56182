import { keyOf } from '../layout.ts'
import { createHash } from 'node:crypto'
import type { ArtifactStore, StoredArtifact } from './store.ts'

/** Stores a payload of an entity under its digest. The same bytes are stored once. */
export function putPayload(store: ArtifactStore, entity: string, bytes: Uint8Array): Promise<StoredArtifact> {
  return store.put(keyOf('payload', { entity, digest: createHash('sha256').update(bytes).digest('hex') }), bytes)
}
