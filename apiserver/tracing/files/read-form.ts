import { HttpError, unprocessable } from '../../../lib/http/http-error.ts'
import { tooLarge } from '../errors.ts'
import type { Readable } from 'node:stream'
import type { BusboyInstance } from '@fastify/busboy'
import { feedForm, openFormParser, refuseForm } from '../../../lib/http/multipart.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { openAnyBody } from '../../../lib/http/body.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import { discardContent, takeContent, type FileContent } from './content.ts'

/** What uploads are spooled with. */
export interface FileFormDeps {
  artifacts: ArtifactStore
  uploadLimitBytes: number
}

/** What `/file/create` takes: a project, a file, and the digest that the client expects, in any order. */
export interface FileForm {
  projectId: string
  expectedDigest: string | undefined
  content: FileContent
}

const limits = { files: 10, fields: 100, parts: 110, fieldSize: 4 * 1024, headerPairs: 100 }
const fileField = 'file'

/**
 * Reads a multipart body while it comes; no more is read than is written.
 *
 * @throws {HttpError} 422 for what is no such form, 413, 403 when the entity may not store so much; nothing is left behind then
 */
export async function readFileForm(
  deps: FileFormDeps,
  ctx: RequestContext,
  incoming: IncomingBytes,
): Promise<FileForm> {
  const reading = new FormReading(deps, openParser(ctx))
  try {
    await reading.feed(ctx, incoming)
    return await reading.finish()
  } catch (error) {
    await reading.discard()
    if (error instanceof HttpError) throw error.status === 413 ? tooLarge() : error
    throw reading.isBroken ? refuseForm('the form is incomplete') : error
  }
}

class FormReading {
  readonly #deps: FileFormDeps
  readonly #parser: BusboyInstance
  readonly #done: Promise<void>
  readonly #fields = new Map<string, string>()
  #stream: Readable | undefined
  #content: Promise<FileContent> | undefined
  #refusal: HttpError | undefined
  isBroken = false

  constructor(deps: FileFormDeps, parser: BusboyInstance) {
    this.#deps = deps
    this.#parser = parser
    this.#done = new Promise((resolve, reject) => parser.on('finish', resolve).on('error', reject))
    this.#done.catch(() => (this.isBroken = true))
    parser.on('file', (field, stream) => {
      // Every part may end too early; an error that nobody listens to would end the process.
      stream.on('error', () => (this.isBroken = true))
      if (field === fileField) this.#takeFile(stream)
      else stream.resume()
    })
    parser.on('field', (field, text, _, cut) => {
      if (cut) this.#refusal ??= refuseForm('a field is too long')
      this.#fields.set(field, text)
    })
    for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'])
      parser.on(event, () => (this.#refusal ??= refuseForm('it has too many files or fields')))
  }

  async feed(ctx: RequestContext, incoming: IncomingBytes): Promise<void> {
    for await (const chunk of openAnyBody(ctx, this.#limitBytes, () => {})) {
      incoming.add(chunk.length)
      await feedForm(this.#parser, this.#done, chunk)
      if (this.#refusal) throw this.#refusal
    }
  }

  async finish(): Promise<FileForm> {
    this.#parser.end()
    await this.#done
    const content = await this.#content
    if (this.#refusal) throw this.#refusal
    const projectId = this.#fields.get('project_id')
    const lacking = [projectId === undefined && 'project_id', content === undefined && fileField].filter(
      (name) => name !== false,
    )
    if (projectId === undefined || content === undefined) throw unprocessable(...lacking.map(presentLack))
    return { projectId, content, expectedDigest: this.#fields.get('expected_digest') || undefined }
  }

  /** Ends what is still being written, and removes what was. */
  async discard(): Promise<void> {
    this.#stream?.destroy(new Error('the form is refused'))
    const [taken] = await Promise.allSettled([this.#content])
    if (taken.status === 'fulfilled' && taken.value) await discardContent(taken.value)
  }

  get #limitBytes(): number {
    return this.#deps.uploadLimitBytes
  }

  #takeFile(stream: Readable): void {
    if (this.#content) {
      this.#refusal ??= refuseForm('the form has more than one file')
      stream.resume()
      return
    }
    this.#stream = stream
    this.#content = takeContent(this.#deps.artifacts, stream, this.#limitBytes)
    this.#content.catch(() => stream.resume()) // the parser waits for its reader; there is nobody any more
  }
}

function openParser(ctx: RequestContext): BusboyInstance {
  // Some clients send a file without a name for it.
  const isPartAFile = (field: string | undefined, _: string | undefined, name: string | undefined) =>
    field === fileField || name !== undefined
  return openFormParser(ctx, { limits, isPartAFile })
}

function presentLack(name: string) {
  return { loc: ['body', name], msg: 'Field required', type: 'missing' }
}
