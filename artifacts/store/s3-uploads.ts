import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3'
import { StoreFailed } from './failed.ts'

/** Aborts old uploads that were never completed. Their parts cost money and are not visible. */
export async function abortUploads(
  client: S3Client,
  location: { Bucket: string; Prefix: string },
  olderThanMs: number,
): Promise<void> {
  const oldest = Date.now() - olderThanMs
  try {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand(location))
    for (const { Key, UploadId, Initiated } of Uploads) {
      if (Initiated && Initiated.getTime() < oldest)
        await client.send(new AbortMultipartUploadCommand({ Bucket: location.Bucket, Key, UploadId }))
    }
  } catch (cause) {
    throw new StoreFailed('sweeping the artifact store', { cause })
  }
}
