import { createHash } from 'node:crypto'
import type { VersionFile } from '../../../db/wandb/versions.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import { errors } from '../../errors/table.ts'
import { isFilePath } from '../../training/artifacts/schema.ts'

/** A file as a manifest names it. Its `digest` in the store is not known yet. */
export type ManifestFile = Omit<VersionFile, 'digest' | 'key'>

export const maxManifestFiles = 20_000
const maxReferenceLength = 4_096
const md5Pattern = /^[0-9a-f]{32}$/

/** Converts an MD5 from base64 into hex; undefined if it is none. */
export function toHex(md5: string): string | undefined {
  const hex = Buffer.from(md5, 'base64').toString('hex')
  return md5Pattern.test(hex) && toBase64(hex) === md5 ? hex : undefined
}

export function toBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

/** Reads the files of a manifest. @throws {HttpError} 400 if it is none, or names files that cannot be stored */
export function parseManifest(bytes: Uint8Array): ManifestFile[] {
  const contents = readContents(bytes)
  const entries = Object.entries(contents)
  if (entries.length > maxManifestFiles)
    throw invalidManifest(`it has ${entries.length} files. At most ${maxManifestFiles} are allowed`)
  return entries.map(([path, entry]) => readEntry(path, entry)).sort(byPath)
}

function readContents(bytes: Uint8Array): Record<string, unknown> {
  let manifest: unknown
  try {
    manifest = parseText(Buffer.from(bytes).toString())
  } catch {
    throw invalidManifest('it is not JSON')
  }
  if (isObject(manifest) && manifest['version'] === 1 && isObject(manifest['contents'])) return manifest['contents']
  throw invalidManifest('it must have version 1 and contents')
}

function readEntry(path: string, entry: unknown): ManifestFile {
  const shown = JSON.stringify(path.slice(0, 100))
  if (!isFilePath(path)) throw invalidManifest(`${shown} is not a valid path`)
  if (!isObject(entry)) throw invalidManifest(`${shown} is not an object`)
  const { digest, size = 0, ref, extra } = entry
  if (typeof digest !== 'string' || digest.includes('\0')) throw invalidManifest(`${shown} has no digest`)
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw invalidManifest(`${shown} has no size`)
  if (ref === undefined || ref === null) {
    const md5 = toHex(digest)
    if (md5 === undefined) throw invalidManifest(`the digest of ${shown} is no MD5 in base64`)
    return { path, size, md5 }
  }
  if (typeof ref !== 'string' || ref.length + digest.length > maxReferenceLength || ref.includes('\0'))
    throw invalidManifest(`the reference of ${shown} is invalid`)
  return { path, size, ref, etag: digest, ...(isObject(extra) && { extra: dropNul(extra) }) }
}

/** Postgres cannot store NUL characters in jsonb. */
function dropNul(extra: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(extra)
  return text.includes(String.raw`\u0000`) ? {} : extra
}

/** Writes the manifest of a version. All its md5s are known. */
export function writeManifest(versionId: string, files: readonly VersionFile[]): string {
  const contents = Object.fromEntries(files.map((file) => [file.path, presentEntry(versionId, file)]))
  return JSON.stringify({
    version: 1,
    storagePolicy: 'wandb-storage-policy-v1',
    storagePolicyConfig: { storageLayout: 'V2' },
    contents,
  })
}

function presentEntry(birthArtifactID: string, file: VersionFile) {
  const { size, ref, extra } = file
  if (ref !== undefined) return { digest: digestOf(file), ref, size, ...(extra && { extra }) }
  return { digest: digestOf(file), birthArtifactID, size }
}

/** wandb's digest of a manifest: its paths and the digests of its files. Sorted as Python sorts: by code points. */
export function digestManifest(files: readonly ManifestFile[]): string {
  const hash = createHash('md5').update('wandb-artifact-manifest-v1\n')
  for (const file of [...files].sort(byPath)) hash.update(`${file.path}:${digestOf(file)}\n`)
  return hash.digest('hex')
}

function digestOf({ ref, etag = '', md5 = '' }: ManifestFile): string {
  return ref === undefined ? toBase64(md5) : etag
}

function byPath(a: { path: string }, b: { path: string }): number {
  return Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))
}

function invalidManifest(reason: string): HttpError {
  return new HttpError(errors.bad_request, `The manifest of the artifact is invalid: ${reason}.`)
}
