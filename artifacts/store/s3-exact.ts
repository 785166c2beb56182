import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { GetObjectCommand, PutObjectCommand, S3ServiceException, type S3Client } from '@aws-sdk/client-s3'
import { WrongDigest } from './wrong-digest.ts'

/** The largest object that one request can store. */
export const maxRequestBytes = 5 * 1024 ** 3

/** An object whose bytes are known by their MD5, in hex. */
export interface ExactObject {
  Bucket: string
  Key: string
  size: number
  md5: string
}

/**
 * Stores a source with one request, so that no part of it waits in memory. The server compares the MD5: that costs this
 * process nothing, and takes longer than everything else it does with an upload.
 *
 * @throws {WrongDigest} then nothing is stored
 */
export async function putExactObject(client: S3Client, object: ExactObject, source: Readable): Promise<void> {
  const { Bucket, Key, size, md5 } = object
  const abort = new AbortController()
  // Without this, the server would wait for the rest.
  source.once('error', (error) => abort.abort(error))
  const ContentMD5 = Buffer.from(md5, 'hex').toString('base64')
  const put = new PutObjectCommand({ Bucket, Key, Body: source, ContentLength: size, ContentMD5 })
  try {
    const { ETag = '' } = await client.send(put, { abortSignal: abort.signal })
    // Servers that encrypt objects have other ETags. It is not known whether they have compared anything.
    if (ETag.replaceAll('"', '') !== md5 && (await digestObject(client, object)) !== md5) throw new WrongDigest()
  } catch (cause) {
    throw cause instanceof S3ServiceException && cause.name === 'BadDigest' ? new WrongDigest() : cause
  }
}

/** Reads an object to find its MD5, in hex. */
async function digestObject(client: S3Client, { Bucket, Key }: ExactObject): Promise<string> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
  const hash = createHash('md5')
  for await (const chunk of Body as AsyncIterable<Uint8Array>) hash.update(chunk)
  return hash.digest('hex')
}
