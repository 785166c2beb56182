import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { CopyObjectCommand, DeleteObjectCommand, GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import { paginateListObjectsV2, S3ServiceException, type _Object, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { countBytes } from './counted.ts'
import { requireRoom } from './free-space.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import { artifactUri, isKey, requireFolder, requireKey, requirePrefix } from './keys.ts'
import { manifestLast } from './manifest-last.ts'
import { explainBucketError } from './misconfigured.ts'
import { ArtifactMissing } from './missing.ts'
import { createS3Client, type S3Options } from '../../lib/s3-client.ts'
import { maxRequestBytes, putExactObject } from './s3-exact.ts'
import { abortUploads } from './s3-uploads.ts'
import type { ArtifactStore, ByteRange, ListedArtifact, StoredArtifact } from './store.ts'
import { sweepFolder } from './sweep.ts'
import { WrongDigest } from './wrong-digest.ts'

// An upload has at most 10,000 parts, so objects may have 160 GB. Two parts are in memory at a time.
const partBytes = 16 * 1024 * 1024
const partsAtOnce = 2
const requestsAtOnce = 16

/** The artifact store in an S3 bucket. `prefix` is empty or ends with a slash. */
export class S3Store implements ArtifactStore {
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string
  readonly #spool = path.join(os.tmpdir(), 'trainyard-spool')

  constructor(bucket: string, prefix: string, options: S3Options) {
    this.#client = createS3Client(options)
    this.#bucket = bucket
    this.#prefix = prefix
  }

  async put(key: string, source: Readable | Uint8Array): Promise<StoredArtifact> {
    const { stream, finish } = countBytes(source)
    await this.#upload(this.#at(key), stream)
    return { uri: artifactUri(key), ...finish() }
  }

  async putExact(
    key: string,
    source: AsyncIterable<Uint8Array>,
    { size, md5 }: { size: number; md5: string },
  ): Promise<StoredArtifact> {
    const location = this.#at(key)
    const hash = createHash('md5')
    const isOne = size <= maxRequestBytes
    const { stream, finish } = countBytes(source, isOne ? undefined : (chunk) => void hash.update(chunk))
    try {
      if (isOne) await putExactObject(this.#client, { ...location, size, md5 }, stream)
      else await this.#upload(location, stream)
      if (!isOne && hash.digest('hex') !== md5) throw new WrongDigest()
      return { uri: artifactUri(key), ...finish() }
    } catch (cause) {
      if (!(cause instanceof WrongDigest)) throw explainBucketError('writing to the artifact store', cause)
      await this.remove(key)
      throw cause
    } finally {
      // The rest of the source is not needed.
      stream.destroy()
    }
  }

  async adopt(key: string, file: string, known: { digest: string; size: number }): Promise<StoredArtifact> {
    const location = this.#at(key)
    try {
      await this.#upload(location, createReadStream(file))
      return { uri: artifactUri(key), digest: known.digest, size: known.size }
    } finally {
      await rm(file, { force: true })
    }
  }

  async spoolPath(): Promise<string> {
    await mkdir(this.#spool, { recursive: true })
    await requireRoom(this.#spool)
    return path.join(this.#spool, randomUUID())
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    const bytes = range && { Range: `bytes=${range.start}-${range.end ?? ''}` }
    const location = this.#at(key)
    try {
      const { Body } = await this.#client.send(new GetObjectCommand({ ...location, ...bytes }))
      return Body as Readable
    } catch (cause) {
      if (isNamed(cause, 'NoSuchKey')) throw new ArtifactMissing(key, cause)
      if (isNamed(cause, 'InvalidRange')) return Readable.from([])
      throw explainBucketError('reading from the artifact store', cause)
    }
  }

  async stat(key: string): Promise<{ size: number; modifiedAt: Date } | undefined> {
    const location = this.#at(key)
    try {
      const { ContentLength = 0, LastModified = new Date() } = await this.#client.send(new HeadObjectCommand(location))
      return { size: ContentLength, modifiedAt: LastModified }
    } catch (cause) {
      if (isNamed(cause, 'NotFound')) return undefined
      throw explainBucketError('reading from the artifact store', cause)
    }
  }

  async *list(prefix: string): AsyncIterable<ListedArtifact> {
    const location = { Bucket: this.#bucket, Prefix: this.#prefix + requirePrefix(prefix) }
    try {
      for await (const { Contents = [] } of paginateListObjectsV2({ client: this.#client }, location))
        yield* Contents.map((found) => this.#present(found)).filter(({ key }) => isKey(key))
    } catch (cause) {
      throw explainBucketError('listing the artifact store', cause)
    }
  }

  async remove(key: string): Promise<void> {
    const location = this.#at(key)
    try {
      await this.#client.send(new DeleteObjectCommand(location))
    } catch (cause) {
      throw explainBucketError('removing from the artifact store', cause)
    }
  }

  /**
   * Removes objects one by one, because some S3 servers cannot remove several with one request. The manifest is removed
   * first, so that the folder counts as absent.
   */
  async removeAll(prefix: string): Promise<{ objects: number; bytes: number }> {
    const removed = { objects: 0, bytes: 0 }
    const remove = async ({ key, size }: ListedArtifact) => {
      await this.remove(key)
      removed.objects++
      removed.bytes += size
    }
    const manifest = `${requireFolder(prefix)}/manifest.json`
    const first = await this.stat(manifest)
    if (first) await remove({ key: manifest, ...first })
    await forEachConcurrent(this.list(prefix), requestsAtOnce, remove)
    return removed
  }

  async copyAll(fromPrefix: string, toPrefix: string): Promise<void> {
    const [from, to] = [requirePrefix(fromPrefix), requirePrefix(toPrefix)]
    for (const { key, size } of await manifestLast(this.list(from), from)) {
      const target = to + key.slice(from.length)
      if (size <= maxRequestBytes) await this.#copy(key, target)
      else await this.put(target, await this.open(key))
    }
  }

  async sweepTemporary(olderThanMs: number): Promise<void> {
    await sweepFolder(this.#spool, olderThanMs)
    await abortUploads(this.#client, { Bucket: this.#bucket, Prefix: this.#prefix }, olderThanMs)
  }

  async probe(): Promise<void> {
    const location = { Bucket: this.#bucket, Key: `${this.#prefix}.probe` }
    await this.#upload(location, Buffer.from('probe'))
    await this.#client.send(new DeleteObjectCommand(location)).catch((cause: unknown) => {
      throw explainBucketError('removing from the artifact store', cause)
    })
  }

  async #upload(location: { Bucket: string; Key: string }, body: Readable | Uint8Array): Promise<void> {
    const params = { ...location, Body: body }
    try {
      await new Upload({ client: this.#client, params, partSize: partBytes, queueSize: partsAtOnce }).done()
    } catch (cause) {
      throw explainBucketError('writing to the artifact store', cause)
    }
  }

  async #copy(from: string, to: string): Promise<void> {
    // Keys and buckets contain no characters that need escapes.
    const CopySource = `${this.#bucket}/${this.#prefix}${from}`
    try {
      await this.#client.send(new CopyObjectCommand({ ...this.#at(to), CopySource }))
    } catch (cause) {
      throw explainBucketError('copying in the artifact store', cause)
    }
  }

  #present({ Key = '', Size = 0, LastModified = new Date() }: _Object): ListedArtifact {
    return { key: Key.slice(this.#prefix.length), size: Size, modifiedAt: LastModified }
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + requireKey(key) }
  }
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof S3ServiceException && error.name === name
}
