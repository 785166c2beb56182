import { folderOf, keyOf } from '../../../artifacts/layout.ts'
import { sumSizes } from '../../../artifacts/store/sum-sizes.ts'
import type { ListedArtifact } from '../../../artifacts/store/store.ts'
import { renewBlobsByMd5, recordMd5 } from '../../../db/wandb/changes.ts'
import { findPending } from '../../../db/wandb/pending-artifacts.ts'
import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { errors } from '../../errors/table.ts'
import { writeToStore } from '../../errors/write-to-store.ts'
import { putExact, storeBody } from '../../training/artifacts/exact-body.ts'
import { uploadTooLarge } from '../../training/artifacts/store-files.ts'
import { keepStreamed } from '../../training/artifacts/streamed-blobs.ts'
import { withUpload } from '../../training/artifacts/upload.ts'
import { invalidArgument, readObjects, requireText } from '../graphql/arguments.ts'
import type { Arguments, GraphqlObject } from '../graphql/values.ts'
import type { Presenter, WandbArtifactDeps } from './deps.ts'
import { readWireId } from './ids.ts'
import { partPath, type Part, type PartedFile } from './paths.ts'
import { requireAnnounced, streamedSize, withCheckedBody } from './uploads.ts'

/** The SDK's own limit. */
const maxParts = 10_000
const md5Pattern = /^[0-9a-f]{32}$/

const joining = new Map<string, Promise<void>>()

/** Gives a link for each part of a file. Null for a file that the SDK sends in one piece. */
export function linkParts(
  { context }: Pick<Presenter, 'context'>,
  { uploadPartsInput }: Arguments,
  file: PartedFile,
): GraphqlObject | null {
  const wanted = readObjects({ uploadPartsInput: uploadPartsInput ?? [] }, 'uploadPartsInput', maxParts)
  if (wanted.length === 0) return null
  const uploadUrlParts = wanted.map((part) => {
    const { partNumber, hexMD5 } = readPart(part)
    const path = partPath({ ...file, part: String(partNumber), partMd5: hexMD5 })
    return { partNumber, uploadUrl: context.signLink({ method: 'PUT', path }) }
  })
  return { uploadID: file.md5, uploadUrlParts }
}

function readPart(part: Arguments): { partNumber: number; hexMD5: string } {
  const { partNumber } = part
  const hexMD5 = requireText(part, 'hexMD5').replaceAll('"', '')
  if (!md5Pattern.test(hexMD5)) throw invalidArgument('hexMD5', 'must be an MD5 in hex')
  if (typeof partNumber === 'number' && Number.isInteger(partNumber) && partNumber >= 1 && partNumber <= maxParts)
    return { partNumber, hexMD5 }
  throw invalidArgument('partNumber', `must be a number from 1 to ${maxParts}`)
}

/** Receives a part of a file. A part that arrives again replaces itself. @throws {HttpError} 400 if it has another MD5 */
export async function receivePart(deps: WandbArtifactDeps, ctx: RequestContext, part: Part): Promise<void> {
  const { entity, id, partMd5: md5 } = part
  requireAnnounced(ctx, { md5 })
  if (!(await findPending(deps.pool, entity, readWireId(id)))) throw notFound('Artifact', id)
  const [key, size] = [`${folderOfParts(part)}/${part.part}-${md5}`, streamedSize(ctx)]
  if (size === undefined) return receiveSmall(deps, ctx, { key, md5 })
  // Parts of incomplete files count nowhere else.
  const beside = () => sumSizes(deps.artifacts, folderOf('upload', { entity }))
  await withUpload(deps, ctx, (incoming) => storeBody(deps, { body: ctx.req, incoming }, { key, size, md5 }), beside)
}

function receiveSmall(
  deps: WandbArtifactDeps,
  ctx: RequestContext,
  { key, md5 }: { key: string; md5: string },
): Promise<void> {
  return withCheckedBody(deps, ctx, { md5, maxBytes: deps.uploadLimitBytes }, async ({ file, digest, size }) => {
    await writeToStore(deps.log, 'upload', () => deps.artifacts.adopt(key, file, { digest, size }))
  })
}

/**
 * Joins the parts of a file. The client may repeat this, also while it runs.
 *
 * @throws {HttpError} 400 if parts are missing, or if the whole has another MD5 than announced
 */
export async function completeMultipart({ deps, context }: Presenter, input: Arguments): Promise<GraphqlObject> {
  const { entity } = context.caller
  const file = { entity, id: requireText(input, 'artifactID'), md5: requireText(input, 'uploadID') }
  if (!md5Pattern.test(file.md5)) throw notFound('Upload', file.md5)
  if (!(await findPending(deps.pool, entity, readWireId(file.id)))) throw notFound('Artifact', file.id)
  if (requireText(input, 'completeMultipartAction') !== 'Complete')
    throw invalidArgument('completeMultipartAction', 'must be Complete')
  const parts = readObjects(input, 'completedParts', maxParts).map(readPart)
  const key = folderOfParts(file)
  const work = joining.get(key) ?? join(deps, file, parts).finally(() => joining.delete(key))
  joining.set(key, work)
  await work
  return { digest: file.md5 }
}

async function join(deps: WandbArtifactDeps, file: PartedFile, parts: ReturnType<typeof readPart>[]): Promise<void> {
  const { entity, md5 } = file
  const folder = folderOfParts(file)
  const stored = new Map<string, ListedArtifact>()
  for await (const found of deps.artifacts.list(folder)) stored.set(found.key, found)
  // The answer to an earlier request was lost.
  if (stored.size === 0 && (await renewBlobsByMd5(deps.pool, entity, [md5])).length > 0) return
  const wanted = parts.toSorted((a, b) => a.partNumber - b.partNumber)
  const keyOfPart = ({ partNumber, hexMD5 }: (typeof wanted)[number]) => `${folder}/${partNumber}-${hexMD5}`
  const joined = wanted.map((part) => stored.get(keyOfPart(part))).filter((part) => part !== undefined)
  if (joined.length < wanted.length) throw missingParts(wanted.filter((part) => !stored.has(keyOfPart(part))))
  await deps.admission.run('file_joins', () => storeJoined(deps, file, joined))
  await writeToStore(deps.log, 'upload', () => deps.artifacts.removeAll(folder))
}

async function storeJoined(
  deps: WandbArtifactDeps,
  { entity, md5 }: PartedFile,
  parts: ListedArtifact[],
): Promise<void> {
  const size = parts.reduce((sum, part) => sum + part.size, 0)
  if (size > deps.uploadLimitBytes) throw uploadTooLarge(deps.uploadLimitBytes)
  const { digest } = await keepStreamed(deps, { entity, md5, size }, (target) =>
    writeToStore(deps.log, 'upload', () => putExact(deps.artifacts, readParts(deps, parts), target)),
  )
  await recordMd5(deps.pool, entity, digest, md5)
}

async function* readParts({ artifacts }: WandbArtifactDeps, parts: ListedArtifact[]): AsyncGenerator<Uint8Array> {
  for (const { key } of parts) yield* (await artifacts.open(key)) as AsyncIterable<Uint8Array>
}

/** All parts of an artifact's files are in one folder, which is removed when the artifact expires. */
function folderOfParts({ entity, id, md5 }: PartedFile): string {
  return `${keyOf('upload', { entity, digest: readWireId(id) })}/${md5}`
}

function missingParts(parts: { partNumber: number }[]): HttpError {
  const shown = parts
    .slice(0, 5)
    .map(({ partNumber }) => partNumber)
    .join(', ')
  return new HttpError(errors.bad_request, `${parts.length} parts of the file were not uploaded: ${shown}.`)
}
