import { tooLarge } from '../errors.ts'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { SourceTooLarge, spoolSource } from '../../../artifacts/store/spool.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'

/** Larger files are in the artifact store, smaller ones in Postgres. */
const maxInline = 256 * 1024

/** A received file: in memory if it is small, else in a local file. */
export type FileContent = { size: number; sha256: Buffer } & ({ bytes: Buffer } | { spooled: string })

/**
 * Receives a file from a client.
 *
 * @throws {HttpError} 413 when it is too large; nothing is left on disk then
 */
export async function receiveContent(store: ArtifactStore, source: Readable, maxBytes: number): Promise<FileContent> {
  const chunks = source.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>
  const head: Buffer[] = []
  let size = 0
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    head.push(next.value)
    size += next.value.length
    if (size > maxInline) return spoolContent(store, Readable.from(chain(head, chunks)), maxBytes)
  }
  const bytes = Buffer.concat(head)
  return { size, bytes, sha256: createHash('sha256').update(bytes).digest() }
}

async function spoolContent(store: ArtifactStore, source: Readable, maxBytes: number): Promise<FileContent> {
  try {
    const { file, digest, size, broken } = await spoolSource(store, source, { maxBytes })
    if (!broken) return { size, spooled: file, sha256: Buffer.from(digest, 'hex') }
    await rm(file, { force: true })
    throw broken
  } catch (error) {
    throw error instanceof SourceTooLarge ? tooLarge() : error
  }
}

async function* chain(head: Buffer[], rest: AsyncIterableIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** Removes the local file, if there is one. */
export async function discardContent(content: FileContent): Promise<void> {
  if ('spooled' in content) await rm(content.spooled, { force: true })
}
