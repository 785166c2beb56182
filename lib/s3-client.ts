import { S3Client } from '@aws-sdk/client-s3'
import { UndiciHttpHandler } from '@smithy/undici-http-handler'
import { Agent } from 'undici'
import { readKeyFrom } from './s3-key.ts'

/** Settings of a store on S3. */
export interface S3Options {
  /** The address of an S3 that is not Amazon's. Buckets are then addressed by path. */
  endpoint?: string | undefined
  region?: string | undefined
  /** The folder of a mounted Secret with an access key. Without it, credentials come from AWS's own variables and files. */
  keyFolder?: string | undefined
}

const maxAttempts = 3
const connectionTimeoutMs = 3_000
// The time without a byte in either direction.
const idleTimeoutMs = 30_000
const maxSockets = 128

// The client warns on the console of each stream that failed. Our own log has the error.
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** Creates a client with limited timeouts and retries. */
export function createS3Client({ endpoint, region, keyFolder }: S3Options): S3Client {
  return new S3Client({
    // Other S3s have no regions, but signatures need one.
    ...(endpoint && { endpoint, forcePathStyle: true, region: 'us-east-1' }),
    ...(region && { region }),
    ...(keyFolder && { credentials: readKeyFrom(keyFolder) }),
    maxAttempts,
    logger: silent,
    // A download takes a third less processor time than with Node's client, which copies each chunk.
    requestHandler: new UndiciHttpHandler({
      dispatcher: new Agent({
        connections: maxSockets,
        connect: { timeout: connectionTimeoutMs },
        headersTimeout: idleTimeoutMs,
        bodyTimeout: idleTimeoutMs,
      }),
    }),
    // Our own digests cover what is stored. Not every S3 supports checksums in trailers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}
