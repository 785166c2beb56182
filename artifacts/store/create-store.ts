import { ConfigError } from '../../lib/config.ts'
import { FolderStore } from './folder-store.ts'
import { isKey } from './keys.ts'
import type { S3Options } from '../../lib/s3-client.ts'
import type { ArtifactStore } from './store.ts'

/**
 * The store at an absolute folder or at `s3://BUCKET[/PREFIX]`. Amazon's library takes 30 MB and half a second to load: only
 * a process with a bucket has it.
 *
 * @throws {ConfigError}
 */
export async function createArtifactStore(address: string, options: S3Options = {}): Promise<ArtifactStore> {
  if (address.startsWith('/')) return new FolderStore(address)
  const [, bucket, prefix] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?\/?$/.exec(address) ?? []
  if (bucket && (!prefix || isKey(prefix))) {
    const { S3Store } = await import('./s3-store.ts')
    return new S3Store(bucket, prefix ? `${prefix}/` : '', options)
  }
  throw new ConfigError('bad configuration: TRAINYARD_ARTIFACTS must be an absolute folder or s3://BUCKET[/PREFIX]')
}
