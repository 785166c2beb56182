import { buffer } from 'node:stream/consumers'
import type { ArtifactStore } from '../../../../artifacts/store/store.ts'
import { findUntrainedAdapter } from '../../../../db/base-models/untrained-adapter.ts'
import { locateBlob } from '../../../../db/artifacts/blobs.ts'
import type { ArtifactFile } from '../../../../db/artifacts/versions.ts'
import type { ModelRow } from '../../../../db/models/models.ts'
import type { Pool } from '../../../../db/pool.ts'
import { HttpError } from '../../../../lib/http/http-error.ts'
import type { WorkerPool } from '../../../../lib/worker-threads/pool.ts'
import { errors } from '../../../errors/table.ts'
import { openArtifact } from '../../open-artifact.ts'
import { readBounds } from './bounds.ts'
import { configFile, readAdapterConfig } from './config.ts'
import { headerStart, readHeaderLength, weightsFile } from './header.ts'
import { checkHeader, type HeaderOutcome, type HeaderTask } from './header-worker.ts'
import { invalidAdapter } from './invalid.ts'
import { requireBoundedWeights } from './weights.ts'
import type { WeightsTask } from './weights-worker.ts'

/** What checking adapters needs. */
export interface AdapterDeps {
  artifacts: ArtifactStore
  heavyThreads: WorkerPool
  pool: Pool
}

const headerModule = new URL('header-worker.ts', import.meta.url)
const weightsModule = new URL('weights-worker.ts', import.meta.url)
const maxConfigBytes = 1024 * 1024
// Parsed in a few milliseconds.
const maxMainThreadBytes = 256 * 1024
const timeoutMs = 60_000

/**
 * Checks that stored files are a plain LoRA adapter of a model's base model, whose numbers are finite and bounded. Reads
 * no pickles. @throws {HttpError} 422
 */
export async function checkAdapter(
  deps: AdapterDeps,
  { entity, baseModel }: Pick<ModelRow, 'entity' | 'baseModel'>,
  files: readonly ArtifactFile[],
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
  const outcome = await askWorker(deps, { header, config, dataBytes, known: await readKnown(deps, baseModel) })
  if ('detail' in outcome) throw new HttpError(errors.invalid_request, outcome.detail)
  const dataStart = weights.size - dataBytes
  await requireBoundedWeights(outcome.tensors, config.scale, async (parts) => {
    const range = { start: dataStart + parts[0]!.start, end: dataStart + parts.at(-1)!.end - 1 }
    const { buffer: bytes } = new Uint8Array(await buffer(await openArtifact(deps.artifacts, weights.key, range)))
    const task: WeightsTask = { parts, bytes }
    const run = { module: weightsModule, task, timeoutMs, transfer: [bytes] }
    const squares = await deps.heavyThreads.run<WeightsTask, number[]>(run)
    if (squares === undefined) throw tooHeavy()
    return squares
  })
}

const tooHeavy = () => invalidAdapter(`Checking ${weightsFile} needs too much memory or time`)

async function askWorker({ heavyThreads }: AdapterDeps, task: HeaderTask): Promise<HeaderOutcome> {
  if (task.header.length + (task.known?.length ?? 0) <= maxMainThreadBytes) return checkHeader(task)
  const outcome = await heavyThreads.run<HeaderTask, HeaderOutcome>({ module: headerModule, task, timeoutMs })
  return outcome ?? { detail: tooHeavy().detail }
}

async function readHeader(artifacts: ArtifactStore, { key, size }: { key: string; size: number }): Promise<string> {
  const read = async (start: number, end: number) => buffer(await openArtifact(artifacts, key, { start, end }))
  const length = readHeaderLength(await read(0, headerStart - 1), size)
  return (await read(headerStart, headerStart + length - 1)).toString()
}

/** The header of the adapter that training starts from, which has all layers that are trained. Undefined if there is none yet. */
async function readKnown({ pool, artifacts }: AdapterDeps, baseModel: string): Promise<string | undefined> {
  const untrained = await findUntrainedAdapter(pool, baseModel)
  const weights = untrained?.files.find(({ path }) => path === weightsFile)
  return weights && readHeader(artifacts, weights)
}
