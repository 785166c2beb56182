import { HttpError, unprocessable, valueError } from './http-error.ts'
import { Busboy, type BusboyConfig, type BusboyInstance } from '@fastify/busboy'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

/** How an operation reads its forms. */
export interface FormRules<File> {
  limits: NonNullable<BusboyConfig['limits']>
  /** The text fields to keep. */
  textFields: readonly string[]
  /** The field of the stored file. A form has at most one such file. If undefined, all files of the form are stored. */
  fileField?: string
  /** Whether file names keep their folders. */
  preservePath?: boolean
  /** The messages of errors. */
  reasons: { fieldTooLong: (field: string) => string; tooManyParts: string }
  /** Stores the bytes of a file. It throws an HttpError to stop the reading. */
  store: (name: string, bytes: Readable) => Promise<File>
  /** Removes a stored file of a form that turned out to be invalid. */
  remove: (file: File) => Promise<void>
}

export interface Form<File> {
  files: File[]
  texts: ReadonlyMap<string, string>
}

/**
 * Reads a multipart body as it arrives, no faster than its files are stored.
 *
 * @param chunks the body; an error of theirs stops the reading
 * @throws {HttpError} 422 if this is not a form, and what `store` throws; then no file is left behind
 */
export async function readForm<File>(
  headers: IncomingHttpHeaders,
  chunks: AsyncIterable<Uint8Array>,
  rules: FormRules<File>,
): Promise<Form<File>> {
  const reader = new FormReader(openParser(headers, rules), rules)
  try {
    await reader.feed(chunks)
    return await reader.finish()
  } catch (error) {
    const thrown = error instanceof HttpError || !reader.isBroken ? error : invalidForm('the form is incomplete')
    await reader.discard()
    throw thrown
  }
}

/** The error for a multipart body that cannot be read. */
export function invalidForm(reason: string): HttpError {
  return unprocessable(valueError(['body'], `the form cannot be read: ${reason}`))
}

class FormReader<File> {
  readonly #rules: FormRules<File>
  readonly #parser: BusboyInstance
  readonly #streams: Readable[] = []
  readonly #files: Promise<File>[] = []
  readonly #texts = new Map<string, string>()
  readonly #done: Promise<void>
  #error: HttpError | undefined
  isBroken = false

  constructor(parser: BusboyInstance, rules: FormRules<File>) {
    this.#parser = parser
    this.#rules = rules
    this.#done = new Promise((resolve, reject) => parser.on('finish', resolve).on('error', reject))
    this.#done.catch(() => (this.isBroken = true))
    parser.on('file', (field, stream, name) => this.#receiveFile(field, stream, name ?? field))
    parser.on('field', (field, text, _, truncated) => {
      if (truncated) this.#error ??= invalidForm(rules.reasons.fieldTooLong(field))
      if (rules.textFields.includes(field)) this.#texts.set(field, text)
    })
    for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'])
      parser.on(event, () => (this.#error ??= invalidForm(rules.reasons.tooManyParts)))
  }

  async feed(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) {
      await Promise.race([this.#write(chunk), this.#done])
      if (this.#error) throw this.#error
    }
  }

  async finish(): Promise<Form<File>> {
    this.#parser.end()
    await this.#done
    const files = await Promise.all(this.#files)
    if (this.#error) throw this.#error
    return { files, texts: this.#texts }
  }

  /** Stops storing files, and removes the stored ones. */
  async discard(): Promise<void> {
    for (const stream of this.#streams) stream.destroy(new Error('the form is invalid'))
    for (const file of await Promise.allSettled(this.#files))
      if (file.status === 'fulfilled') await this.#rules.remove(file.value)
  }

  /** Resolves when the parser has room for more. */
  #write(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#parser.write(chunk, (error) => {
        this.isBroken ||= Boolean(error)
        if (error) reject(error)
        else resolve()
      })
    })
  }

  #receiveFile(field: string, stream: Readable, name: string): void {
    // Each part may end too early. An error without a listener would end the process.
    this.#streams.push(stream.on('error', () => (this.isBroken = true)))
    const { fileField } = this.#rules
    const isStored = fileField === undefined || (field === fileField && this.#files.length === 0)
    if (isStored) return this.#storeFile(name, stream)
    if (field === fileField) this.#error ??= invalidForm('the form has more than one file')
    stream.resume()
  }

  #storeFile(name: string, stream: Readable): void {
    const file = this.#rules.store(name, stream)
    file.catch((error: unknown) => {
      if (error instanceof HttpError) this.#error ??= error
      // The parser waits until this stream is read, and nothing else reads it now.
      stream.resume()
    })
    this.#files.push(file)
  }
}

function openParser<File>(
  headers: IncomingHttpHeaders,
  { limits, preservePath = false, fileField }: FormRules<File>,
): BusboyInstance {
  const config = { headers: { ...headers, 'content-type': headers['content-type'] ?? '' }, limits, preservePath }
  // Some clients send a file without a file name.
  const isPartAFile = (field: string | undefined, _: string | undefined, name: string | undefined) =>
    field === fileField || name !== undefined
  try {
    return new Busboy(fileField === undefined ? config : { ...config, isPartAFile })
  } catch {
    throw invalidForm('its Content-Type names no boundary')
  }
}
