import type { Version, VersionFile } from '../../../db/wandb/versions.ts'
import { readTexts } from '../graphql/arguments.ts'
import type { GraphqlContext } from '../graphql/resource.ts'
import type { Arguments, GraphqlObject, GraphqlValue } from '../graphql/values.ts'
import type { Presenter } from './deps.ts'
import { listDigestedFiles } from './digests.ts'
import { toWireId } from './ids.ts'
import { maxManifestFiles, toBase64 } from './manifest.ts'
import { blobPath, versionFilePath } from './paths.ts'
import { presentPageInfo, readPage } from './page.ts'

const defaultFiles = 50
// The SDK asks for this many links at once.
const maxFiles = 5_000

/** A page of a version's files in the store. References are in the manifest only. */
export async function presentFiles(
  { deps, context }: Presenter,
  version: Version,
  args: Arguments,
): Promise<GraphqlValue> {
  const { limit, after } = readPage(args, defaultFiles, maxFiles)
  const names = args['names'] ? new Set(readTexts(args, 'names', maxManifestFiles)) : undefined
  const all = await listDigestedFiles(deps, version)
  const files = all.filter(({ path, ref }) => ref === undefined && (names?.has(path) ?? true))
  const start = after === '' ? 0 : files.findIndex(({ path }) => path === after) + 1
  const shown = files.slice(start, start + limit)
  return {
    totalCount: files.length,
    pageInfo: presentPageInfo(start + limit < files.length, shown.at(-1)?.path ?? ''),
    edges: shown.map((file) => ({ cursor: file.path, node: presentFile(context, version, file) })),
  }
}

function presentFile(context: GraphqlContext, version: Version, file: VersionFile): GraphqlObject {
  const { path, size, md5 = '' } = file
  const url = linkFile(context, version, file)
  return {
    __typename: 'File',
    id: `${toWireId(version.id)}/${path}`,
    name: path,
    displayName: path,
    url,
    directUrl: url,
    sizeBytes: size,
    storagePath: path,
    mimetype: null,
    md5: toBase64(md5),
    digest: toBase64(md5),
    createdAt: version.createdAt.toISOString(),
    updatedAt: version.createdAt.toISOString(),
  }
}

function linkFile({ signLink }: GraphqlContext, { entity, id }: Version, { digest, path }: VersionFile): string {
  const target = digest === undefined ? versionFilePath(entity, toWireId(id), path) : blobPath(entity, digest)
  return signLink({ method: 'GET', path: target })
}
