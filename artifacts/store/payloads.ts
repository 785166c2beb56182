import { createHash } from 'node:crypto'
import type { ArtifactStore, StoredArtifact } from './store.ts'

/** Stores a payload of an entity under its digest; the same bytes twice are one object. */
export function putPayload(store: ArtifactStore, entity: string, bytes: Uint8Array): Promise<StoredArtifact> {
  return store.put(payloadKey(entity, createHash('sha256').update(bytes).digest('hex')), bytes)
}

/** Where a payload of an entity lies. */
export function payloadKey(entity: string, digest: string): string {
  return `payloads/${entity}/${digest}.json`
}
