import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { noKubernetes } from '../../tools/openapi.ts'
import { readLocalConfig } from '../../local/config.ts'
import { withLock } from '../../local/entry/lock.mjs'
import { postgresCommand } from '../../local/stack/programs/postgres.ts'
import { makeOwnPostgres } from './own-postgres.ts'
import { createTemplateDatabase } from './template-database.ts'

const wanted = { settings: async () => ['fsync=off', 'max_connections=200', 'max_wal_size=128MB'] }
const memory = '/dev/shm'
const memoryBytes = 2 * 1024 ** 3

/** Starts a Postgres for all test files of a project that need no Kubernetes. Ends it after them. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-test-'))
  const services = {
    artifacts: path.join(folder, 'artifacts'),
    kubeconfig: path.join(folder, 'kubeconfig.json'),
  }
  await writeFile(services.kubeconfig, noKubernetes)
  const postgres = await makeOwnPostgres({ ...wanted, parent: await chooseParent(), fill: copyData })
  await postgres.start()
  project.provide('services', { ...services, databaseUrl: postgres.databaseUrl })
  return async () => {
    await postgres.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

/** In memory, Postgres copies a database in a tenth of the time. Some containers have little of it. */
async function chooseParent(): Promise<string> {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= memoryBytes ? memory : tmpdir()
}

/** Makes data with the template database. The user's cache keeps them until the migrations change. */
async function copyData(folder: string): Promise<void> {
  const cache = path.join(readLocalConfig().cacheFolder, 'test-postgres')
  await withLock(cache, async () => {
    const kept = path.join(cache, await digestSources())
    if (!existsSync(kept)) {
      await rm(cache, { recursive: true, force: true })
      await mkdir(cache, { recursive: true })
      await makeData(`${kept}.tmp`)
      await rename(`${kept}.tmp`, kept)
    }
    await copy(kept, folder)
  })
}

async function makeData(folder: string): Promise<void> {
  const postgres = await makeOwnPostgres(wanted)
  try {
    await postgres.start()
    await createTemplateDatabase(postgres.databaseUrl)
    await postgres.stop()
    await copy(postgres.dataFolder, folder)
  } finally {
    await postgres.remove()
  }
}

/** Keeps the owner of the files, as which Postgres runs. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}

/** A digest of what the data come from: the migrations, how they are made, the version of Postgres and its user. */
async function digestSources(): Promise<string> {
  const migrations = ['db/migrations', 'db/tracing/migrations'].flatMap((folder) =>
    readdirSync(folder).map((name) => path.join(folder, name)),
  )
  const others = ['local/stack/programs/postgres.ts', 'test/support/template-database.ts', 'package-lock.json']
  const { owner } = await postgresCommand('postgres', tmpdir())
  const hash = createHash('sha256').update(JSON.stringify([owner, process.env['TRAINYARD_POSTGRES_BIN']]))
  for (const file of [...migrations, ...others]) hash.update(file).update(readFileSync(file))
  return hash.digest('hex')
}
