import { payloadKey } from '../../../lib/artifact-store/payloads.ts'
import type { StoredArtifact } from '../../../lib/artifact-store/store.ts'
import type { Deps } from '../../deps.ts'
import { keepStorable, type SpooledBody } from './spool.ts'

/** Gives a spooled body to the store, as it came. The same body twice is one object. */
export function storeBody(deps: Deps, entity: string, { file, digest, size }: SpooledBody): Promise<StoredArtifact> {
  const name = digest.toString('hex')
  return keepStorable(deps, () => deps.artifacts.adopt(payloadKey(entity, name), file, { digest: name, size }))
}
