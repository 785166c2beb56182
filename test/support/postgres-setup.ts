import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { noKubernetes } from '../../tools/openapi.ts'
import { makeOwnPostgres } from './own-postgres.ts'
import { createTemplateDatabase } from './template-database.ts'

/** Starts a Postgres for all test files of a project that need no Kubernetes. Ends it after them. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-test-'))
  const services = {
    artifacts: path.join(folder, 'artifacts'),
    kubeconfig: path.join(folder, 'kubeconfig.json'),
  }
  await writeFile(services.kubeconfig, noKubernetes)
  const postgres = await makeOwnPostgres(async () => ['fsync=off', 'max_connections=200'])
  await postgres.start()
  await createTemplateDatabase(postgres.databaseUrl)
  project.provide('services', { ...services, databaseUrl: postgres.databaseUrl })
  return async () => {
    await postgres.remove()
    await rm(folder, { recursive: true, force: true })
  }
}
