import { ConfigError } from '../../lib/config.ts'
import { FolderStore } from './folder-store.ts'
import { isKey } from './keys.ts'
import type { S3Options } from '../../lib/s3-client.ts'
import { S3Store } from './s3-store.ts'
import type { ArtifactStore } from './store.ts'

/** The store at an absolute folder or at `s3://BUCKET[/PREFIX]`. @throws {ConfigError} */
export function createArtifactStore(address: string, options: S3Options = {}): ArtifactStore {
  if (address.startsWith('/')) return new FolderStore(address)
  const [, bucket, prefix] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?\/?$/.exec(address) ?? []
  if (bucket && (!prefix || isKey(prefix))) return new S3Store(bucket, prefix ? `${prefix}/` : '', options)
  throw new ConfigError('bad configuration: TRAINYARD_ARTIFACTS must be an absolute folder or s3://BUCKET[/PREFIX]')
}
