import { buffer } from 'node:stream/consumers'
import { artifactKey } from '../../../../artifacts/store/keys.ts'
import type { ArtifactStore } from '../../../../artifacts/store/store.ts'
import { findTrainedCheckpoint } from '../../../../db/checkpoints/trained.ts'
import { locateBlob } from '../../../../db/artifacts/blobs.ts'
import type { ArtifactFile } from '../../../../db/artifacts/versions.ts'
import type { ModelRow } from '../../../../db/models/models.ts'
import type { Pool } from '../../../../db/pool.ts'
import { HttpError } from '../../../../lib/http/http-error.ts'
import type { WorkerPool } from '../../../../lib/worker-threads/pool.ts'
import type { Turn } from '../../../accounts/limits/turn.ts'
import { errors } from '../../../errors/table.ts'
import { openArtifact } from '../../open-artifact.ts'
import { readBounds } from './bounds.ts'
import { configFile, readAdapterConfig } from './config.ts'
import { headerStart, readHeaderLength, weightsFile } from './header.ts'
import { checkHeader, type HeaderOutcome, type HeaderTask } from './header-worker.ts'
import { invalidAdapter } from './invalid.ts'

/** What checking adapters needs. */
export interface AdapterDeps {
  artifacts: ArtifactStore
  heavyThreads: WorkerPool
  pool: Pool
}

const module = new URL('header-worker.ts', import.meta.url)
const maxConfigBytes = 1024 * 1024
// Parsed in a few milliseconds.
const inPlaceUpToBytes = 256 * 1024
const timeoutMs = 60_000

/**
 * Checks that stored files are a plain LoRA adapter of a model's base model. Reads the configuration and the header of
 * the weights, and no pickles. @throws {HttpError} 422
 */
export async function checkAdapter(
  deps: AdapterDeps,
  { entity, baseModel }: Pick<ModelRow, 'entity' | 'baseModel'>,
  { files, turn }: { files: readonly ArtifactFile[]; turn: Turn },
): Promise<void> {
  const find = async (name: string) => {
    const file = files.find(({ path }) => path === name)
    if (!file) throw invalidAdapter(`${name} is missing. An adapter has ${configFile} and ${weightsFile}`)
    return { ...file, key: await locateBlob(deps.pool, entity, file.digest) }
  }
  const configuration = await find(configFile)
  const weights = await find(weightsFile)
  if (configuration.size > maxConfigBytes) throw invalidAdapter(`${configFile} is larger than ${maxConfigBytes} bytes`)
  const text = (await buffer(await openArtifact(deps.artifacts, configuration.key))).toString()
  const config = readAdapterConfig(text, await readBounds(deps.pool, baseModel))
  const header = await readHeader(deps.artifacts, weights)
  const dataBytes = weights.size - headerStart - Buffer.byteLength(header)
  const outcome = await askWorker(deps, { header, config, dataBytes, known: await readKnown(deps, baseModel) }, turn)
  if (outcome !== 'valid') throw new HttpError(errors.invalid_request, outcome.detail)
}

async function askWorker({ heavyThreads }: AdapterDeps, task: HeaderTask, turn: Turn): Promise<HeaderOutcome> {
  if (task.header.length + (task.known?.length ?? 0) <= inPlaceUpToBytes) return checkHeader(task)
  const outcome = await heavyThreads.run<HeaderTask, HeaderOutcome>({ module, task, timeoutMs }, turn)
  return outcome ?? { detail: invalidAdapter(`Checking ${weightsFile} needs too much memory or time`).detail }
}

async function readHeader(artifacts: ArtifactStore, { key, size }: { key: string; size: number }): Promise<string> {
  const read = async (start: number, end: number) => buffer(await openArtifact(artifacts, key, { start, end }))
  const length = readHeaderLength(await read(0, headerStart - 1), size)
  return (await read(headerStart, headerStart + length - 1)).toString()
}

/** The header of an adapter that training has made for the same base model. Undefined if there is none, or none any more. */
async function readKnown({ pool, artifacts }: AdapterDeps, baseModel: string): Promise<string | undefined> {
  const uri = await findTrainedCheckpoint(pool, baseModel)
  if (uri === undefined) return undefined
  const key = `${artifactKey(uri)}/${weightsFile}`
  const found = await artifacts.stat(key)
  if (!found) return undefined
  return readHeader(artifacts, { key, size: found.size }).catch((error: unknown) => {
    if (error instanceof HttpError) return undefined
    throw error
  })
}
