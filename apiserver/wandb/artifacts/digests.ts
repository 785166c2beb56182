import { createHash } from 'node:crypto'
import { locateBlob } from '../../../db/artifacts/blobs.ts'
import type { Pool } from '../../../db/pool.ts'
import { recordDigests, listFilesOf, type Version, type VersionFile } from '../../../db/wandb/versions.ts'
import { openArtifact } from '../../training/open-artifact.ts'
import type { WandbArtifactDeps } from './deps.ts'
import { digestManifest } from './manifest.ts'

type Deps = Pick<WandbArtifactDeps, 'admission' | 'artifacts' | 'pool'>

/** The key of a file in the store; undefined for references. */
export async function locateFile(
  pool: Pool,
  entity: string,
  { key, digest }: VersionFile,
): Promise<string | undefined> {
  return key ?? (digest === undefined ? undefined : locateBlob(pool, entity, digest))
}

/** The files of a version, with their MD5s. Computes and records those that are not known yet. */
export async function listDigestedFiles(deps: Deps, version: Version): Promise<VersionFile[]> {
  const files = await listFilesOf(deps.pool, version.id)
  if (files.every(({ ref, md5 }) => ref !== undefined || md5 !== undefined)) return files
  return deps.admission.run('file_digests', async () => {
    const digested: VersionFile[] = []
    for (const file of files) digested.push(await addMd5(deps, version.entity, file))
    await recordDigests(deps.pool, version.id, digested, digestManifest(digested))
    return digested
  })
}

/** wandb's digest of a version. */
export async function readManifestDigest(deps: Deps, version: Version): Promise<string> {
  return version.manifestDigest ?? digestManifest(await listDigestedFiles(deps, version))
}

/** The size of a version. That of a checkpoint is not known before its files are read. */
export async function readSize(deps: Deps, version: Version): Promise<number> {
  if (!version.isCheckpoint || version.manifestDigest !== null) return version.size
  return (await listDigestedFiles(deps, version)).reduce((sum, { size }) => sum + size, 0)
}

async function addMd5({ artifacts, pool }: Deps, entity: string, file: VersionFile): Promise<VersionFile> {
  if (file.md5 !== undefined) return file
  const key = await locateFile(pool, entity, file)
  if (key === undefined) return file
  const hash = createHash('md5')
  // The sizes of a checkpoint's files are not known either.
  let size = 0
  for await (const chunk of (await openArtifact(artifacts, key)) as AsyncIterable<Uint8Array>) {
    hash.update(chunk)
    size += chunk.length
  }
  return { ...file, size, md5: hash.digest('hex') }
}
