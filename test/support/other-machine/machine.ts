import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { LaunchOptions } from 'playwright-core'
import { readLocalConfig } from '../../../local/config.ts'
import { findLaunchOptions } from '../chromium.ts'

/** A machine that differs from that of CI. */
export interface OtherMachine {
  env: NodeJS.ProcessEnv
  /** The commands of its search path that were run, although the tests have programs of their own. */
  listUsed: () => Promise<string[]>
  remove: () => Promise<void>
}

/** What an installation brings along. Others of these, of any version, may be on a machine. */
const ownPrograms = ['kubectl', 'helm', 'go', 'etcd', 'kube-apiserver', 'postgres', 'initdb', 'psql']
/** Of all stacks of the real machine: who has which loopback network. Here, another network is behind these. */
const unshared = 'slots'

/** Nothing listens there. */
const deadProxy = 'http://127.0.0.1:9'
const proxies = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()])
const forgotten = ['NO_PROXY', 'no_proxy', 'XDG_CACHE_HOME', 'TRAINYARD_CACHE', 'CHROMIUM']

/** Makes the home of such a machine. What is installed is the same, so that nothing is downloaded twice. */
export async function makeOtherMachine(): Promise<OtherMachine> {
  const root = await mkdtemp(path.join(tmpdir(), 'other machine-'))
  // Postgres runs as another user than root.
  await chmod(root, 0o755)
  const home = path.join(root, 'a home')
  const bin = path.join(home, 'bin')
  const used = path.join(root, 'used')
  await mkdir(bin, { recursive: true })
  await shareCache(path.join(home, '.cache', 'trainyard'))
  for (const name of ownPrograms) await writeProgram(path.join(bin, name), complain(name, used))
  await writeProgram(path.join(bin, 'chromium'), startBrowser(await findLaunchOptions()))
  const env = {
    ...process.env,
    ...Object.fromEntries(forgotten.map((name) => [name, undefined])),
    ...Object.fromEntries(proxies.map((name) => [name, deadProxy])),
    HOME: home,
    PATH: `${bin}${path.delimiter}${process.env['PATH']}`,
    // It is ahead of UTC by twelve hours and three quarters, and by an hour more in its summer.
    TZ: 'Pacific/Chatham',
    // Its small letter of I has no dot, and its numbers have decimal commas.
    LC_ALL: 'tr_TR.UTF-8',
    LANG: 'tr_TR.UTF-8',
  }
  const listUsed = async () => (await readFile(used, 'utf8').catch(() => '')).split('\n').filter(Boolean)
  return { env, listUsed, remove: () => rm(root, { recursive: true }) }
}

async function shareCache(folder: string): Promise<void> {
  const { cacheFolder } = readLocalConfig()
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(cacheFolder))
    if (name !== unshared) await symlink(path.join(cacheFolder, name), path.join(folder, name))
}

async function writeProgram(file: string, script: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

function complain(name: string, used: string): string {
  return `echo "${name} $*" >> ${quote(used)}\necho "this ${name} belongs to the machine" >&2\nexit 1`
}

/** The machine's own browser, or the one of the tests, by a name in the search path. */
function startBrowser({ executablePath, env = {} }: LaunchOptions): string {
  const variables = Object.entries(env).filter(([name, value]) => process.env[name] !== value)
  const words = variables.map(([name, value]) => `${name}=${quote(String(value))}`)
  return `exec env ${[...words, quote(executablePath!)].join(' ')} "$@"`
}
