import { S3Client } from '@aws-sdk/client-s3'

/** Of a store on S3. Credentials come from AWS's own variables and files. */
export interface S3Options {
  /** of an S3 other than Amazon's; buckets are then addressed by path */
  endpoint?: string | undefined
  region?: string | undefined
}

const maxAttempts = 3
const connectionTimeoutMs = 3_000
// Without a byte either way.
const idleTimeoutMs = 30_000
const maxSockets = 128

/** A client with bounded timeouts and retries. */
export function createS3Client({ endpoint, region }: S3Options): S3Client {
  return new S3Client({
    // S3s other than Amazon's have no regions, but signatures name one.
    ...(endpoint && { endpoint, forcePathStyle: true, region: 'us-east-1' }),
    ...(region && { region }),
    maxAttempts,
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      socketTimeout: idleTimeoutMs,
      httpAgent: { maxSockets },
      httpsAgent: { maxSockets },
    },
    // Digests of ours cover what is stored; checksums in trailers are not known to every S3.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}
