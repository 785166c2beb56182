import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** An access key of S3, as Amazon's library takes it. */
export interface S3Key {
  accessKeyId: string
  secretAccessKey: string
  expiration: Date
}

/** A file of a mounted Secret is missing or empty. */
export class S3KeyMissing extends Error {
  override name = 'S3KeyMissing'
}

/**
 * Returns a function that reads an access key from the files of a mounted Secret. The key counts as expired, so that
 * Amazon's library reads it for each request: a changed Secret needs no restart.
 */
export function readKeyFrom(folder: string): () => Promise<S3Key> {
  return async () => ({
    accessKeyId: await readKeyFile(folder, 'access-key-id'),
    secretAccessKey: await readKeyFile(folder, 'secret-access-key'),
    expiration: new Date(),
  })
}

async function readKeyFile(folder: string, name: string): Promise<string> {
  const content = await readFile(path.join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (content.trim() !== '') return content.trim()
  throw new S3KeyMissing(
    `The Secret of artifacts.s3.secretName has no key ${name}. Create the Secret, or add the key. No restart is needed.`,
  )
}
