import { createHash, randomUUID } from 'node:crypto'
import { constants, createWriteStream } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { countBytes } from './counted.ts'
import { StoreFailed } from './failed.ts'
import { requireRoom } from './free-space.ts'
import { explainFolderError } from './folder-access.ts'
import { commitFile } from './folder-files.ts'
import { artifactUri, requireFolder, requireKey, requirePrefix } from './keys.ts'
import { manifestLast } from './manifest-last.ts'
import { ArtifactMissing } from './missing.ts'
import { sweepFolder } from './sweep.ts'
import type { ArtifactStore, ByteRange, ListedArtifact, StoredArtifact } from './store.ts'
import { WrongDigest } from './wrong-digest.ts'

// No key starts with a dot. Trainers also write here, and rename finished files.
const spoolFolder = '.spool'

/** The artifact store on a folder that apiserver, operator, trainers and engines share. */
export class FolderStore implements ArtifactStore {
  readonly #root: string
  readonly #spool: string

  constructor(root: string) {
    this.#root = root
    this.#spool = path.join(root, spoolFolder)
  }

  put(key: string, source: Readable | Uint8Array): Promise<StoredArtifact> {
    return this.#write(key, async (temporary) => {
      const { stream, finish } = countBytes(source)
      await pipeline(stream, createWriteStream(temporary, { flags: 'wx' }))
      return { uri: artifactUri(key), ...finish() }
    })
  }

  putExact(key: string, source: AsyncIterable<Uint8Array>, { md5 }: { md5: string }): Promise<StoredArtifact> {
    return this.#write(key, async (temporary) => {
      const hash = createHash('md5')
      const { stream, finish } = countBytes(source, (chunk) => void hash.update(chunk))
      await pipeline(stream, createWriteStream(temporary, { flags: 'wx' }))
      if (hash.digest('hex') !== md5) throw new WrongDigest()
      return { uri: artifactUri(key), ...finish() }
    })
  }

  adopt(key: string, file: string, known: { digest: string; size: number }): Promise<StoredArtifact> {
    return this.#write(key, async (temporary) => {
      await rename(file, temporary).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EXDEV') throw error
        await copyFile(file, temporary)
        await rm(file)
      })
      return { uri: artifactUri(key), digest: known.digest, size: known.size }
    })
  }

  async spoolPath(): Promise<string> {
    const file = await this.#temporaryPath()
    await requireRoom(this.#spool)
    return file
  }

  async #temporaryPath(): Promise<string> {
    try {
      const made = await mkdir(this.#spool, { recursive: true })
      // Trainers also write here. They share a group with this process, not a user.
      if (made !== undefined) await chmod(this.#spool, (await stat(this.#spool)).mode | 0o070)
      return path.join(this.#spool, randomUUID())
    } catch (cause) {
      throw await this.#explain('writing to the artifact store', cause)
    }
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    const handle = await open(this.#pathOf(key)).catch((cause: unknown) => {
      throw isAbsence(cause) ? new ArtifactMissing(key, cause) : readingFailed(cause)
    })
    const found = await handle.stat()
    if (found.isFile() && (range === undefined || range.start < found.size)) return handle.createReadStream(range)
    await handle.close()
    if (found.isFile()) return Readable.from([])
    throw new ArtifactMissing(key)
  }

  async stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined> {
    const found = await stat(this.#pathOf(key)).catch((cause: unknown) => {
      if (!isAbsence(cause)) throw readingFailed(cause)
    })
    return found?.isFile() ? { size: found.size, modifiedAt: found.mtime } : undefined
  }

  list(prefix: string): AsyncIterable<ListedArtifact> {
    const below = requirePrefix(prefix)
    return walk(path.join(this.#root, below), below)
  }

  async remove(key: string): Promise<void> {
    await unlink(this.#pathOf(key)).catch(async (cause: unknown) => {
      if (!isAbsence(cause)) throw await this.#explain('removing from the artifact store', cause)
    })
  }

  /** One rename removes all files at once, so that no reader sees some of them. */
  async removeAll(prefix: string): Promise<{ objects: number; bytes: number }> {
    const folder = this.#pathOf(requireFolder(prefix))
    const removed = { objects: 0, bytes: 0 }
    try {
      const aside = await this.#temporaryPath()
      await rename(folder, aside)
      for await (const { size } of walk(aside, '')) {
        removed.objects++
        removed.bytes += size
      }
      await rm(aside, { recursive: true })
    } catch (cause) {
      if (!isAbsence(cause)) throw await this.#explain('removing from the artifact store', cause)
    }
    return removed
  }

  async copyAll(fromPrefix: string, toPrefix: string): Promise<void> {
    const [from, to] = [requirePrefix(fromPrefix), requirePrefix(toPrefix)]
    for (const { key } of await manifestLast(this.list(from), from)) {
      const copy = (temporary: string) => copyFile(this.#pathOf(key), temporary, constants.COPYFILE_FICLONE)
      await this.#write(to + key.slice(from.length), copy)
    }
  }

  sweepTemporary(olderThanMs: number): Promise<void> {
    return sweepFolder(this.#spool, olderThanMs)
  }

  async probe(): Promise<void> {
    const file = await this.#temporaryPath()
    await this.#writeWhole(file, `${file}.probe`, () => pipeline([Buffer.from('probe')], createWriteStream(file)))
    await rm(`${file}.probe`).catch(async (cause: unknown) => {
      throw await this.#explain('removing from the artifact store', cause)
    })
  }

  async #write<T>(key: string, fill: (temporary: string) => Promise<T>): Promise<T> {
    return this.#writeWhole(await this.#temporaryPath(), this.#pathOf(key), fill)
  }

  async #writeWhole<T>(temporary: string, file: string, fill: (temporary: string) => Promise<T>): Promise<T> {
    try {
      const result = await fill(temporary)
      await commitFile(temporary, file)
      return result
    } catch (cause) {
      await rm(temporary, { force: true })
      if (cause instanceof WrongDigest) throw cause
      throw await this.#explain('writing to the artifact store', cause)
    }
  }

  #explain(what: string, cause: unknown): Promise<StoreFailed> {
    return explainFolderError(what, this.#root, cause)
  }

  #pathOf(key: string): string {
    return path.join(this.#root, requireKey(key))
  }
}

/** The files below a folder. A file that is removed during the walk is left out. */
async function* walk(folder: string, below: string): AsyncIterable<ListedArtifact> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    if (!isAbsence(cause)) throw readingFailed(cause)
  })
  for (const entry of entries ?? []) {
    if (entry.name.startsWith('.')) continue
    const file = path.join(folder, entry.name)
    const key = below + entry.name
    if (entry.isDirectory()) yield* walk(file, `${key}/`)
    const found = entry.isFile() ? await stat(file).catch(() => undefined) : undefined
    if (found) yield { key, size: found.size, modifiedAt: found.mtime }
  }
}

/** The file does not exist, or a folder is where a file should be, or a file where a folder should be. */
function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}

function readingFailed(cause: unknown): StoreFailed {
  return new StoreFailed('reading from the artifact store', { cause })
}
