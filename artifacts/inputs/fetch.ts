import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { insertBlob, renewBlob } from '../../db/artifacts/blobs.ts'
import { whileHoldingKey } from '../../db/store/held-keys.ts'
import { keyOf } from '../layout.ts'
import { artifactUri } from '../store/keys.ts'
import { spoolSource, type Spooled } from '../store/spool.ts'
import { AddressError, ResponseError } from '../../lib/outbound/errors.ts'
import { InputError } from './address.ts'
import { resolveInput, type Input, type InputDeps } from './resolve.ts'
import type { FetchedBytes, StorageQuota } from './storage-quota.ts'

export interface FetchDeps extends InputDeps {
  quota: StorageQuota
}

/** An input in the store. */
export interface StoredInput {
  uri: string
  digest: string
}

// Longer than the outbound guard allows for one response.
const s3TimeoutMs = 600_000

/**
 * Resolves an address. If the data is elsewhere, it is fetched into the store under its digest, so that a second fetch
 * stores nothing.
 *
 * @throws {InputError} for a permanent error; {ResponseError} and other errors when a retry may help
 */
export async function obtainInput(
  deps: FetchDeps,
  { entity, address, digest }: { entity: string; address: string; digest: string | null },
  signal: AbortSignal,
): Promise<StoredInput> {
  const input = await resolveInput(deps, entity, address)
  const stored = 'remote' in input ? await fetchInput(deps, entity, input.remote, signal) : input
  if (digest === null || digest === stored.digest) return stored
  throw new InputError('InputDigestMismatch', `its sha256 is ${stored.digest}, which is not the expected one`)
}

async function fetchInput(
  deps: FetchDeps,
  entity: string,
  remote: Extract<Input, { remote: object }>['remote'],
  signal: AbortSignal,
): Promise<StoredInput> {
  const fetched = await deps.quota.open(entity)
  try {
    const open = () => openRemote(deps, remote, signal)
    return await keepFetched(deps, entity, await rethrowDefinite(() => spoolWhole(deps, open, fetched)))
  } finally {
    fetched.close()
  }
}

async function keepFetched(deps: FetchDeps, entity: string, { file, digest, size }: Spooled): Promise<StoredInput> {
  const key = keyOf('blob', { entity, object: digest })
  return whileHoldingKey({ pool: deps.pool, schema: 'training' }, key, {
    store: async () => {
      const known = await renewBlob(deps.pool, entity, { digest, size })
      if (known !== undefined && (await deps.artifacts.stat(known))) {
        await rm(file, { force: true })
        return { uri: artifactUri(known), isNew: false }
      }
      const { uri } = await deps.artifacts.adopt(key, file, { digest, size })
      return { uri, isNew: true }
    },
    commit: async ({ uri, isNew }) => {
      if (isNew) await insertBlob(deps.pool, entity, { digest, size })
      return { uri, digest }
    },
  })
}

async function openRemote(
  { sources }: InputDeps,
  remote: Extract<Input, { remote: object }>['remote'],
  signal: AbortSignal,
): Promise<Readable> {
  const { outbound, readObject, maxBytes } = sources
  if (remote.kind === 'web') return (await outbound.fetch(remote.url, { maxBytes, signal })).body
  if (!readObject) throw new InputError('InputNotAllowed', 'S3 is not configured here')
  return readObject(remote, { maxBytes, signal: AbortSignal.any([signal, AbortSignal.timeout(s3TimeoutMs)]) })
}

async function spoolWhole(
  { artifacts, sources }: InputDeps,
  open: () => Promise<Readable>,
  fetched: FetchedBytes,
): Promise<Spooled> {
  const source = await open()
  try {
    const count = (bytes: number) => fetched.add(bytes)
    const spooled = await spoolSource(artifacts, source, { maxBytes: sources.maxBytes, count })
    await requireUsable(spooled, fetched)
    return spooled
  } finally {
    // The rest of the source is not needed, so its errors are not reported.
    source.destroy()
  }
}

async function requireUsable({ file, broken }: Spooled, fetched: FetchedBytes): Promise<void> {
  try {
    if (broken) throw broken
    await fetched.confirm()
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}

/** Turns permanent errors into InputErrors. */
async function rethrowDefinite<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AddressError) throw new InputError('InputNotAllowed', error.message)
    if (error instanceof ResponseError && !error.transient) throw new InputError(reasonOf(error), error.message)
    throw error
  }
}

function reasonOf({ kind, status }: ResponseError): InputError['reason'] {
  if (kind === 'too_large') return 'InputTooLarge'
  return status === 401 || status === 403 ? 'InputNotAllowed' : 'InputNotFound'
}
