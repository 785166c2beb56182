import { S3KeyMissing } from '../../lib/s3-key.ts'
import { StoreFailed } from './failed.ts'

/** The store cannot work until somebody changes the installation. The message says what. */
export class StoreMisconfigured extends StoreFailed {
  override name = 'StoreMisconfigured'
}

/** An error of a bucket, with the sentence of a missing key. */
export function explainBucketError(what: string, cause: unknown): StoreFailed {
  return cause instanceof S3KeyMissing
    ? new StoreMisconfigured(cause.message, { cause })
    : new StoreFailed(what, { cause })
}
