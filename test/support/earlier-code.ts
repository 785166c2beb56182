import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const repository = path.resolve(import.meta.dirname, '../..')
const git = async (...args: string[]) => (await run('git', args, { cwd: repository })).stdout.trim()

export interface EarlierCode {
  /** The checkout. It uses the packages of today. */
  root: string
  /** The newest migration, which it does not have. */
  migration: string
  remove: () => Promise<void>
}

/** Takes the code of the commit before the newest migration from git's history. Undefined if the clone is shallow. */
export async function checkOutEarlierCode(): Promise<EarlierCode | undefined> {
  const folders = ['db/migrations', 'db/tracing/migrations']
  const [commit, migration] = (
    await git('log', '-1', '--diff-filter=A', '--name-only', '--format=%H', '--', ...folders)
  ).split(/\n+/)
  const parent = await git('rev-parse', '--verify', '--quiet', `${commit}^`).catch(() => undefined)
  if (parent === undefined) return undefined
  const root = await mkdtemp(path.join(tmpdir(), 'trainyard-earlier-'))
  const archive = path.join(root, 'code.tar')
  await git('archive', '--output', archive, parent)
  await run('tar', ['-xf', archive, '-C', root])
  await symlink(path.join(repository, 'node_modules'), path.join(root, 'node_modules'))
  return { root, migration: migration!, remove: () => rm(root, { recursive: true }) }
}
