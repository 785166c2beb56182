import { Transform, type TransformCallback } from 'node:stream'
import { JsonMembers } from '../json/members.ts'

const newline = 0x0a
const carriageReturn = 0x0d
const dataPrefix = Buffer.from('data:')

/** Names in a reply: what the engine wrote, and what the client is to read. */
export interface ModelNames {
  engineName: string
  requestedName: string
}

/** A JSON object of the engine with the client's name of the model in its `model`; all other bytes stay. */
export function renameModel(bytes: Uint8Array, names: ModelNames): Uint8Array {
  const members = readMembers(bytes)
  if (members?.has('model')) return members.change({ model: names.requestedName })
  return members?.has('error') ? renameInText(bytes, names) : bytes
}

/** A sentence of the engine with the client's name of the model in it. */
export function renameInText(bytes: Uint8Array, { engineName, requestedName }: ModelNames): Uint8Array {
  const quoted = JSON.stringify(requestedName).slice(1, -1)
  return Buffer.from(Buffer.from(bytes).toString().replaceAll(engineName, quoted))
}

/** Undefined for what is no JSON object, such as `[DONE]`. */
function readMembers(bytes: Uint8Array): JsonMembers | undefined {
  try {
    return new JsonMembers(bytes)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A server-sent event stream of the engine with the client's name of the model in each event, passed on event by event. */
export class RenameModelStream extends Transform {
  readonly #names: ModelNames
  #rest: Buffer = Buffer.alloc(0)

  constructor(names: ModelNames) {
    super()
    this.#names = names
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const end = bytes.lastIndexOf(newline) + 1
    this.#rest = bytes.subarray(end)
    done(null, end > 0 ? this.#renameLines(bytes.subarray(0, end)) : undefined)
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#rest.length > 0 ? this.#renameLines(this.#rest) : undefined)
  }

  #renameLines(bytes: Buffer): Buffer {
    const lines: Uint8Array[] = []
    for (let start = 0; start < bytes.length;) {
      const found = bytes.indexOf(newline, start)
      const end = found === -1 ? bytes.length : found
      lines.push(...this.#renameLine(bytes.subarray(start, end)))
      if (found !== -1) lines.push(bytes.subarray(end, end + 1))
      start = end + 1
    }
    return Buffer.concat(lines)
  }

  #renameLine(line: Buffer): Uint8Array[] {
    if (!line.subarray(0, dataPrefix.length).equals(dataPrefix)) return [line]
    const space = line[dataPrefix.length] === 0x20 ? 1 : 0
    const start = dataPrefix.length + space
    const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length
    return [line.subarray(0, start), renameModel(line.subarray(start, end), this.#names), line.subarray(end)]
  }
}
