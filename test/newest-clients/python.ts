import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { childEnvironment, readLocalConfig } from '../../local/config.ts'
import { installUv } from '../../local/install/python-environment.ts'
import type { Python } from '../../local/install/python.ts'
import { runChild } from '../../local/install/run-child.ts'
import { findPythonOf } from '../support/pythons.ts'
import type { Client } from './clients.ts'

const minors = [14, 13, 12, 11]
const signal = new AbortController().signal
const compiling = childEnvironment({ UV_COMPILE_BYTECODE_TIMEOUT: '600' })

/** Versions of packages by their names. */
export type Versions = Record<string, string>

export interface PythonEnvironment {
  python: string
  installed: Versions
  /** The newest release of each client on any Python. */
  newest: Versions
}

export async function listPythons(): Promise<Python[]> {
  const found = await Promise.all(minors.map((minor) => findPythonOf([minor])))
  return found.filter((python) => python !== undefined)
}

/**
 * Makes an environment with the newest releases of the clients of a folder, on the newest Python for which these exist. A
 * resolver would otherwise take an older release for a Python that the newest one does not support.
 */
export async function makeEnvironment(root: string, folder: string, clients: readonly Client[], pythons: Python[]) {
  const names = clients.filter((client) => client.folder === folder).map(({ name }) => name)
  const uv = await installUv(pythons[0]!, readLocalConfig().cacheFolder, { phase: { update: () => undefined }, signal })
  const releases = await Promise.all(pythons.map((python) => resolveAlone(uv, python, names)))
  const newest = Object.fromEntries(names.map((name) => [name, findHighest(releases.map((found) => found[name]))]))
  const serves = pythons.filter((_, index) => names.every((name) => releases[index]![name] === newest[name]))
  const requirements = path.join(root, `${folder}.in`)
  await writeFile(requirements, unpin(await readFile(pathOf(folder), 'utf8')))
  for (const python of serves) {
    const environment = path.join(root, 'python', folder)
    const interpreter = path.join(environment, 'bin', 'python')
    await runUv(uv, ['venv', '--quiet', '--clear', '--python', python.command, environment])
    // The tests let Python write no bytecode.
    const install = ['pip', 'install', '--quiet', '--compile-bytecode', '--python', interpreter, '-r', requirements]
    const { code, tail } = await runUv(uv, install)
    if (code === 0) return { python: python.version, installed: await listInstalled(uv, interpreter), newest }
    console.log(`${folder} on Python ${python.version}: ${tail}`)
  }
  throw new Error(`no Python has the newest releases of ${names.join(', ')}`)
}

const pathOf = (folder: string) => path.join(import.meta.dirname, '..', 'clients', folder, 'requirements.in')

/** Without the versions that are pinned exactly. Bounds stay. */
export const unpin = (requirements: string) => requirements.replaceAll(/==.*$/gm, '')

/** The newest release of each package that a Python can install, whatever the others need. */
async function resolveAlone(uv: string, python: Python, names: readonly string[]): Promise<Versions> {
  const args = [
    'pip',
    'compile',
    '--quiet',
    '--no-deps',
    '--no-header',
    '--no-annotate',
    '--python',
    python.command,
    '-',
  ]
  const lines = await Promise.all(names.map(async (name) => (await runUv(uv, args, name)).stdout))
  return Object.fromEntries(lines.flatMap((line) => (line.includes('==') ? [line.trim().split('==')] : [])))
}

async function listInstalled(uv: string, interpreter: string): Promise<Versions> {
  const { stdout } = await runUv(uv, ['pip', 'list', '--format', 'json', '--python', interpreter])
  const packages = JSON.parse(stdout) as { name: string; version: string }[]
  return Object.fromEntries(packages.map(({ name, version }) => [name, version]))
}

const runUv = (uv: string, args: string[], input?: string) =>
  runChild(uv, args, { signal, env: compiling, ...(input === undefined ? {} : { input }) })

export function findHighest(versions: readonly (string | undefined)[]): string {
  const given = versions.filter((version) => version !== undefined)
  return given.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? 'none'
}
