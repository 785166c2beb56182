import { GetObjectCommand, S3ServiceException, type S3Client } from '@aws-sdk/client-s3'
import { LimitedBody } from './limited-body.ts'
import { ResponseError } from './errors.ts'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream'

/** Reads an object of a bucket. Fails with a ResponseError, also during the read. */
export type ReadObject = (
  location: { bucket: string; key: string },
  options: { maxBytes: number; signal: AbortSignal },
) => Promise<Readable>

/** Reads with a client's credentials, up to a size limit. */
export function createBucketReader(client: S3Client): ReadObject {
  return async ({ bucket: Bucket, key: Key }, { maxBytes, signal }) => {
    const { Body, ContentLength = 0 } = await client
      .send(new GetObjectCommand({ Bucket, Key }), { abortSignal: signal })
      .catch((error: unknown) => {
        throw toResponseError(error)
      })
    const limited = new LimitedBody(maxBytes)
    // The end of either stream ends the other. The reader gets errors from the limited one.
    pipeline(Body as Readable, limited, () => {})
    if (ContentLength <= maxBytes) return limited
    limited.on('error', () => {}).destroy()
    throw limited.error
  }
}

function toResponseError(error: unknown): ResponseError {
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
  if (status === undefined) return new ResponseError('unreachable', 'S3 could not be reached', { cause: error })
  return new ResponseError('status', `S3 answered ${status}`, { status, cause: error })
}
