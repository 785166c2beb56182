import { locateBlob } from '../../db/artifacts/blobs.ts'
import { findArtifactVersion, type ArtifactFile, type ArtifactName } from '../../db/artifacts/versions.ts'
import type { Pool } from '../../db/pool.ts'
import { isTrainingData } from '../layout.ts'
import { artifactKey, artifactUri } from '../store/keys.ts'
import type { ArtifactStore } from '../store/store.ts'
import { AddressError } from '../../lib/outbound/errors.ts'
import type { DataSources } from '../../lib/outbound/open.ts'
import { InputError, readInputAddress, type InputAddress } from './address.ts'

const whoAllows =
  'The administrator sets the allowed hosts in outbound.dataHosts of the chart, or in TRAINYARD_DATA_HOSTS on one machine'

export interface InputDeps {
  pool: Pool
  artifacts: ArtifactStore
  sources: DataSources
}

/** The data of a job: a file in the store, or an allowed address that must be fetched first. */
export type Input = { uri: string; digest: string } | { remote: Extract<InputAddress, { kind: 'web' | 's3' }> }

/**
 * Finds the data of an address with an entity's rights. REST and resources use the same rules. Every version of a data
 * set is pinned to one file in the store, which never changes.
 *
 * @throws {InputError} also for data of another entity, with the same message as for missing data
 */
export async function resolveInput(deps: InputDeps, entity: string, address: string): Promise<Input> {
  const read = readInputAddress(address)
  if (read.kind === 'artifact') return findTrainingFile(deps, entity, read)
  if (read.kind === 'stored') return findStored(deps, entity, read.uri)
  checkRemote(deps.sources, read)
  return { remote: read }
}

async function findTrainingFile(
  { pool }: InputDeps,
  entity: string,
  { version, ...name }: Extract<InputAddress, { kind: 'artifact' }>,
): Promise<Input> {
  const found = name.entity === entity ? await findArtifactVersion(pool, name, version) : undefined
  if (!found) throw noArtifact(name, version)
  const { digest } = pickTrainingFile(found.files)
  return { uri: artifactUri(await locateBlob(pool, entity, digest)), digest }
}

function noArtifact({ entity, project, name }: ArtifactName, version: number | 'latest'): InputError {
  const path = `${entity}/${project}/${name}`
  const shown = version === 'latest' ? path : `${path}:v${version}`
  const upload = `PUT /v1/preview/artifacts/${path}?file=train.jsonl`
  return new InputError('InputNotFound', `there is no artifact ${shown}; upload it first: ${upload}`)
}

/** Clients of the hosted service use the name train.jsonl; its documentation uses trajectories.jsonl. */
export const trainingFiles = ['train.jsonl', 'trajectories.jsonl']

function pickTrainingFile(files: ArtifactFile[]): ArtifactFile {
  const byName = (name: string) => files.find(({ path }) => path === name)
  const lines = files.filter(({ path }) => path.endsWith('.jsonl'))
  const picked =
    trainingFiles.map(byName).find((file) => file !== undefined) ?? (lines.length === 1 ? lines[0] : undefined)
  if (picked) return picked
  const listed = files.slice(0, 10).map(({ path }) => path)
  const there = files.length > listed.length ? [...listed, '...'] : listed
  const wanted = 'train.jsonl, trajectories.jsonl or exactly one *.jsonl'
  throw new InputError('InputNotFound', `the artifact must contain ${wanted}; it contains ${there.join(', ')}`)
}

/** An address that uploads and `npm run put` return. Its last part is the digest of the object. */
async function findStored({ artifacts }: InputDeps, entity: string, uri: string): Promise<Input> {
  const key = artifactKey(uri) ?? ''
  const digest = /\/([0-9a-f]{64})(\.jsonl?)?$/.exec(key)?.[1]
  if (isTrainingData(key, entity) && digest && (await artifacts.stat(key))) return { uri, digest }
  throw new InputError('InputNotFound', 'this address contains no data of the entity')
}

function checkRemote(
  { outbound, buckets, readObject }: DataSources,
  remote: Extract<Input, { remote: object }>['remote'],
) {
  if (remote.kind === 'web') return checkWeb(() => outbound.check(remote.url))
  if (!readObject) throw new InputError('InputNotAllowed', 'S3 is not configured here; upload the data instead')
  if (!buckets.has(remote.bucket)) {
    throw new InputError('InputNotAllowed', `the bucket ${remote.bucket} is not allowed. ${whoAllows}`)
  }
}

function checkWeb(check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof AddressError)) throw error
    const advice = error.rule === 'host' ? `. ${whoAllows}` : ''
    throw new InputError('InputNotAllowed', `${error.message}${advice}`)
  }
}
