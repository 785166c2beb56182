import { HttpError } from '../../../lib/http/http-error.ts'
import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { BusboyInstance } from '@fastify/busboy'
import type { Spooled } from '../../../artifacts/store/spool.ts'
import { feedForm, openFormParser, refuseForm } from '../../../lib/http/multipart.ts'
import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { maxFiles } from './schema.ts'
import { spoolUpload, uploadTooLarge, type SpoolDeps } from './store-files.ts'

/** A form: its files, spooled, and the text of its field `metadata`. */
export interface Form {
  files: { path: string; spooled: Spooled }[]
  metadata: string | undefined
}

const limits = { files: maxFiles, fields: 100, parts: maxFiles + 100, fieldSize: 256 * 1024, headerPairs: 100 }

/**
 * Reads a multipart body while it comes, each file into a local file of its own; no more is read than is written.
 *
 * @throws {HttpError} nothing is left behind then
 */
export async function readMultipart(deps: SpoolDeps, ctx: RequestContext, incoming: IncomingBytes): Promise<Form> {
  const reading = new FormReading(deps, openFormParser(ctx, { preservePath: true, limits }))
  try {
    await reading.feed(ctx.req, incoming)
    return await reading.finish()
  } catch (error) {
    await reading.discard()
    throw error instanceof HttpError ? error : endedEarly()
  }
}

class FormReading {
  readonly #deps: SpoolDeps
  readonly #parser: BusboyInstance
  readonly #streams: Readable[] = []
  readonly #files: Promise<{ path: string; spooled: Spooled }>[] = []
  readonly #done: Promise<void>
  #metadata: string | undefined
  #refusal: HttpError | undefined

  constructor(deps: SpoolDeps, parser: BusboyInstance) {
    this.#deps = deps
    this.#parser = parser
    this.#done = new Promise((resolve, reject) => parser.on('finish', resolve).on('error', reject))
    this.#done.catch(() => {}) // awaited where it matters
    parser.on('file', (field, stream, name) => this.#takeFile(name ?? field, stream))
    parser.on('field', (field, text, _, cut) => {
      if (cut) this.#refusal ??= refuseForm(`the field ${JSON.stringify(field.slice(0, 100))} is too long`)
      if (field === 'metadata') this.#metadata = text
    })
    for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'])
      parser.on(event, () => (this.#refusal ??= refuseForm(`it has more than ${maxFiles} files, or too many fields`)))
  }

  async feed(source: Readable, incoming: IncomingBytes): Promise<void> {
    const maxBytes = this.#deps.uploadLimitBytes
    let size = 0
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      size += chunk.length
      if (size > maxBytes) throw uploadTooLarge(this.#deps.uploadLimitBytes)
      incoming.add(chunk.length)
      await feedForm(this.#parser, this.#done, chunk)
      if (this.#refusal) throw this.#refusal
    }
  }

  async finish(): Promise<Form> {
    this.#parser.end()
    await this.#done
    const files = await Promise.all(this.#files)
    if (this.#refusal) throw this.#refusal
    if (files.some(({ spooled }) => spooled.broken)) throw endedEarly()
    if (files.length === 0) throw refuseForm('the form has no file')
    return { files, metadata: this.#metadata }
  }

  /** Ends what is still being written, and removes what was. */
  async discard(): Promise<void> {
    for (const stream of this.#streams) stream.destroy(new Error('the form is refused'))
    for (const file of await Promise.allSettled(this.#files))
      if (file.status === 'fulfilled') await rm(file.value.spooled.file, { force: true })
  }

  #takeFile(path: string, stream: Readable): void {
    this.#streams.push(stream.on('error', () => {}))
    const spooled = spoolUpload(this.#deps, stream, { maxBytes: this.#deps.uploadLimitBytes })
    const file = spooled.then((taken) => ({ path, spooled: taken }))
    file.catch((error: unknown) => {
      if (error instanceof HttpError) this.#refusal ??= error
      // The parser waits for its reader; there is nobody any more.
      stream.resume()
    })
    this.#files.push(file)
  }
}

function endedEarly(): HttpError {
  return refuseForm('the form is incomplete')
}
