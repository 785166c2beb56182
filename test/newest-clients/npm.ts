import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { runChild } from '../../local/install/run-child.ts'
import { type Client, npmCompanions } from './clients.ts'
import type { Versions } from './python.ts'

/** Installs the newest releases of the npm clients, and the newest Node. */
export async function installNewest(root: string, clients: readonly Client[]): Promise<Versions> {
  const names = clients.filter(({ registry }) => registry === 'npm').map(({ name }) => name)
  const node = `node-linux-${process.arch}`
  await writeFile(path.join(root, 'package.json'), '{"private": true}')
  const packages = [...names, ...npmCompanions, node].map((name) => `${name}@latest`)
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', root]
  const { code, tail } = await runChild('npm', ['install', ...flags, ...packages], { cwd: root })
  if (code !== 0) throw new Error(`npm install: ${tail}`)
  const versions = await Promise.all([...names, node].map(async (name) => [name, await readVersion(root, name)]))
  const { [node]: nodeVersion = '', ...rest } = Object.fromEntries(versions) as Versions
  return { ...rest, node: nodeVersion }
}

async function readVersion(root: string, name: string): Promise<string> {
  const text = await readFile(path.join(root, 'node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Gives a copy of the checkout a folder of packages of its own, with the newest releases in place of the pinned ones. */
export async function linkPackages(copy: string, root: string): Promise<void> {
  const folder = path.join(copy, 'node_modules')
  const pinned = path.join(import.meta.dirname, '..', '..', 'node_modules')
  await rm(folder)
  await mkdir(folder)
  for (const [location, name] of await listPackages(pinned)) await link(location, folder, name)
  for (const [location, name] of await listPackages(path.join(root, 'node_modules')))
    if (!name.startsWith('.')) await link(location, folder, name)
}

/** The packages of a folder, those with a scope one by one. */
async function listPackages(folder: string): Promise<[location: string, name: string][]> {
  const entries = await readdir(folder)
  const scoped = entries.filter((name) => name.startsWith('@'))
  const inScopes = await Promise.all(
    scoped.map(async (scope) => (await readdir(path.join(folder, scope))).map((name) => path.join(scope, name))),
  )
  const names = [...entries.filter((name) => !name.startsWith('@')), ...inScopes.flat()]
  return names.map((name) => [path.join(folder, name), name])
}

async function link(location: string, folder: string, name: string): Promise<void> {
  const target = path.join(folder, name)
  await mkdir(path.dirname(target), { recursive: true })
  await rm(target, { force: true })
  await symlink(location, target)
}
