import { randomUUID } from 'node:crypto'
import { findCollection, findVersionByDigest } from '../../../db/wandb/versions.ts'
import { renewBlobsByMd5 } from '../../../db/wandb/changes.ts'
import {
  countPending,
  expectManifest,
  findPending,
  insertPending,
  type PendingArtifact,
} from '../../../db/wandb/pending-artifacts.ts'
import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import { errors } from '../../errors/table.ts'
import { LimitError } from '../../accounts/limits/limit-error.ts'
import { otherLimits } from '../../accounts/limits/table.ts'
import { requireStorage } from '../../accounts/limits/service.ts'
import { isMetadata } from '../../training/artifacts/schema.ts'
import { findText, invalidArgument, readObjects, requireText } from '../graphql/arguments.ts'
import type { Arguments, GraphqlObject } from '../graphql/values.ts'
import { giveAliases } from './give-aliases.ts'
import type { Presenter } from './deps.ts'
import { readWireId, toWireId } from './ids.ts'
import { maxManifestFiles, toHex } from './manifest.ts'
import { checkAliases, readCollectionName, readTypeName } from './names.ts'
import { linkParts } from './parts.ts'
import { manifestUploadPath, uploadPath } from './paths.ts'
import { presentVersion } from './present.ts'

const { most: maxPending } = otherLimits.pending_artifacts
const maxAliases = 100
const maxTextLength = 65_536
const maxNameLength = 256

/**
 * Begins a version, or finds one of the collection with the same content: then the client uploads nothing, and the
 * aliases move to it.
 */
export async function createArtifact(presenter: Presenter, input: Arguments): Promise<GraphqlObject> {
  const { deps, context } = presenter
  const name = readCollectionName(input, context)
  const type = readTypeName(input)
  const digest = requireDigest(input)
  const aliases = checkAliases(readObjects(input, 'aliases', maxAliases).map((alias) => requireText(alias, 'alias')))
  await requireType(presenter, name, type)
  const known = await findVersionByDigest(deps.pool, name, digest)
  // An earlier checkpoint that is logged again is the newest one from then on.
  const isSame = known && (known.isLatest || !known.isCheckpoint)
  if (isSame && input['enableDigestDeduplication'] === true) {
    await giveAliases(deps, known, aliases)
    return { artifact: presentVersion(presenter, known) }
  }
  await requireSlot(presenter)
  // A link that refuses an upload tells the SDK's user nothing.
  await requireStorage(deps, context.caller.entity, 1)
  const id = randomUUID()
  await insertPending(deps.pool, {
    ...name,
    id,
    type,
    digest,
    aliases,
    keyId: context.caller.keyId,
    metadata: readMetadata(input) ?? {},
    description: readDescription(input) ?? null,
    runName: findName(input, 'runName'),
    clientId: findName(input, 'clientID'),
  })
  return { artifact: { __typename: 'Artifact', id: toWireId(id), state: 'PENDING', digest } }
}

async function requireType({ deps }: Presenter, name: ReturnType<typeof readCollectionName>, type: string) {
  const collection = await findCollection(deps.pool, name)
  if (collection && collection.type !== type) throw otherType(name.name, collection.type)
}

export function otherType(name: string, type: string): HttpError {
  return new HttpError(
    errors.bad_request,
    `The artifact ${name} has the type ${type}. Its versions cannot have another.`,
  )
}

async function requireSlot({ deps, context }: Presenter): Promise<void> {
  if ((await countPending(deps.pool, context.caller.entity)) < maxPending) return
  const detail = `More than ${maxPending} artifacts are being uploaded. Those that are not committed within a day are removed.`
  throw new LimitError('pending_artifacts', detail)
}

function requireDigest(input: Arguments): string {
  const algorithm = findText(input, 'digestAlgorithm') ?? 'MANIFEST_MD5'
  if (algorithm !== 'MANIFEST_MD5') throw invalidArgument('digestAlgorithm', 'must be MANIFEST_MD5')
  const digest = requireText(input, 'digest')
  if (/^[0-9a-f]{32}$/.test(digest)) return digest
  throw invalidArgument('digest', 'must be an MD5 in hex')
}

/** Metadata is JSON in a text. @throws {HttpError} 400 */
export function readMetadata(input: Arguments): Record<string, unknown> | undefined {
  const text = findText(input, 'metadata')
  if (text === undefined) return undefined
  let metadata: unknown
  try {
    metadata = parseText(text)
  } catch {
    throw invalidArgument('metadata', 'must be JSON')
  }
  if (isMetadata(metadata)) return metadata
  throw invalidArgument('metadata', 'must be a JSON object of at most 65536 characters')
}

function findName(input: Arguments, name: string): string | null {
  const text = findText(input, name) ?? null
  if (text && text.length > maxNameLength) throw invalidArgument(name, `is longer than ${maxNameLength} characters`)
  return text
}

export function readDescription(input: Arguments): string | undefined {
  const description = findText(input, 'description')
  if ((description?.length ?? 0) > maxTextLength) throw invalidArgument('description', 'is too long')
  return description
}

/** Announces the manifest of a version, and gives the link to upload it. An empty digest only reserves it. */
export async function createManifest({ deps, context }: Presenter, input: Arguments): Promise<GraphqlObject> {
  const { id, entity } = await requirePending({ deps, context }, requireText(input, 'artifactID'))
  if ((findText(input, 'type') ?? 'FULL') !== 'FULL')
    throw invalidArgument('type', 'must be FULL. Incremental and distributed artifacts are not supported')
  const md5 = findText(input, 'digest') ?? ''
  const file = md5 === '' ? undefined : await announceManifest({ deps, context }, { id, entity, md5 })
  return {
    artifactManifest: {
      __typename: 'ArtifactManifest',
      id: toWireId(id),
      file: { __typename: 'File', id: toWireId(id), name: 'wandb_manifest.json', uploadUrl: null, ...file },
    },
  }
}

async function announceManifest(
  { deps, context }: Presenter,
  { id, entity, md5 }: { id: string; entity: string; md5: string },
): Promise<GraphqlObject> {
  const hex = toHex(md5)
  if (hex === undefined) throw invalidArgument('digest', 'must be an MD5 in base64')
  await expectManifest(deps.pool, id, hex)
  const path = manifestUploadPath(entity, toWireId(id), hex)
  return { uploadUrl: context.signLink({ method: 'PUT', path }), uploadHeaders: [`Content-MD5:${md5}`] }
}

/** Gives a link for each file, in the order of the request. A file that is already stored needs no upload. */
export async function createFiles({ deps, context }: Presenter, input: Arguments): Promise<GraphqlObject> {
  const { entity } = context.caller
  const wanted = readObjects(input, 'artifactFiles', maxManifestFiles).map(readWantedFile)
  for (const id of new Set(wanted.map((file) => file.id))) await requirePending({ deps, context }, id)
  const stored = await renewBlobsByMd5(deps.pool, entity, [...new Set(wanted.map(({ md5 }) => md5))])
  const known = new Set(stored.map(({ md5 }) => md5))
  const edges = wanted.map(({ id, name, md5, base64, parts }) => ({
    node: {
      __typename: 'File',
      name,
      displayName: name,
      storagePath: `${entity}/${md5}`,
      artifact: { __typename: 'Artifact', id },
      uploadUrl: known.has(md5) ? null : context.signLink({ method: 'PUT', path: uploadPath(entity, md5) }),
      uploadHeaders: [`Content-MD5:${base64}`],
      uploadMultipartUrls: known.has(md5) ? null : linkParts({ context }, parts, { entity, id, md5 }),
    },
  }))
  return { files: { __typename: 'FileConnection', edges } }
}

function readWantedFile(file: Arguments) {
  const base64 = requireText(file, 'md5')
  const md5 = toHex(base64)
  if (md5 === undefined) throw invalidArgument('md5', 'must be an MD5 in base64')
  return { id: requireText(file, 'artifactID'), name: requireText(file, 'name'), md5, base64, parts: file }
}

/** @throws {HttpError} 404 if there is no such version, or if it is complete */
async function requirePending({ deps, context }: Presenter, wireId: string): Promise<PendingArtifact> {
  const pending = await findPending(deps.pool, context.caller.entity, readWireId(wireId))
  if (!pending) throw notFound('Artifact', wireId)
  return pending
}
