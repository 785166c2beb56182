import { HttpError, unprocessable } from '../../../lib/http/http-error.ts'
import { tooLarge } from '../errors.ts'
import { readForm, type Form, type FormRules } from '../../../lib/http/multipart.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { openAnyBody } from '../../../lib/http/body.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import { discardContent, receiveContent, type FileContent } from './content.ts'

export interface FileFormDeps {
  artifacts: ArtifactStore
  uploadLimitBytes: number
}

/**
 * The form of `/file/create`: a project, a file, and the digest that the client expects. The parts may have any order.
 */
export interface FileForm {
  projectId: string
  expectedDigest: string | undefined
  content: FileContent
}

const limits = { files: 10, fields: 100, parts: 110, fieldSize: 4 * 1024, headerPairs: 100 }
const fileField = 'file'

/**
 * Reads the form of a file. Nothing is left on disk when it throws.
 *
 * @throws {HttpError} 422 for another form, 413 for a file that is too large, 403 when the entity's storage is full
 */
export async function readFileForm(
  deps: FileFormDeps,
  ctx: RequestContext,
  incoming: IncomingBytes,
): Promise<FileForm> {
  try {
    const form = await readForm(ctx.headers, readChunks(deps, ctx, incoming), rulesOf(deps))
    return await requireParts(form)
  } catch (error) {
    throw error instanceof HttpError && error.status === 413 ? tooLarge() : error
  }
}

function rulesOf({ artifacts, uploadLimitBytes }: FileFormDeps): FormRules<FileContent> {
  return {
    limits,
    textFields: ['project_id', 'expected_digest'],
    fileField,
    reasons: { fieldTooLong: () => 'a field is too long', tooManyParts: 'it has too many files or fields' },
    store: (_, bytes) => receiveContent(artifacts, bytes, uploadLimitBytes),
    remove: discardContent,
  }
}

async function* readChunks(
  { uploadLimitBytes }: FileFormDeps,
  ctx: RequestContext,
  incoming: IncomingBytes,
): AsyncIterable<Uint8Array> {
  for await (const chunk of openAnyBody(ctx, uploadLimitBytes, () => {})) {
    incoming.add(chunk.length)
    yield chunk
  }
}

async function requireParts({ files: [content], texts }: Form<FileContent>): Promise<FileForm> {
  const projectId = texts.get('project_id')
  if (projectId !== undefined && content !== undefined)
    return { projectId, content, expectedDigest: texts.get('expected_digest') || undefined }
  if (content !== undefined) await discardContent(content)
  const missing = [projectId === undefined && 'project_id', content === undefined && fileField]
  throw unprocessable(...missing.filter((name) => name !== false).map(presentMissing))
}

function presentMissing(name: string) {
  return { loc: ['body', name], msg: 'Field required', type: 'missing' }
}
