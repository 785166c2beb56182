import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { runChild } from '../../local/install/run-child.ts'

interface DebianPackage {
  name: string
  /** Where its files are kept. */
  folder: string
  /** The packages that it depends on and that are unpacked too. */
  libraries?: RegExp
  /** More packages that are unpacked too. */
  more?: readonly string[]
}

/** A program of Debian that is not installed, and the variables with which it finds its libraries. */
export interface DebianProgram {
  command: string
  env: { LD_LIBRARY_PATH: string }
}

/** Unpacks a package of Debian in the cache folder, once, and finds a program in it. @throws {Error} if apt does not have it */
export async function findDebianProgram(
  program: string,
  { name, libraries }: Pick<DebianPackage, 'name' | 'libraries'>,
): Promise<DebianProgram> {
  const folder = path.join(readLocalConfig().cacheFolder, name)
  const command = path.join(folder, program)
  if (!existsSync(command)) await unpackDebianPackage({ name, folder, ...(libraries && { libraries }) })
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
  const folders = ['usr/lib', 'lib'].map((below) => path.join(folder, below, triplet))
  return { command, env: { LD_LIBRARY_PATH: folders.join(':') } }
}

/** Unpacks a package of Debian in a folder, without installing it. @throws {Error} if apt does not have it */
export async function unpackDebianPackage({ name, folder, libraries, more = [] }: DebianPackage): Promise<void> {
  const temporary = `${folder}.${process.pid}`
  try {
    await mkdir(temporary, { recursive: true })
    const depends = libraries ? await run('apt-cache', ['depends', name], temporary) : ''
    const others = libraries ? [...depends.matchAll(libraries)].map((match) => match[1]!) : []
    await run('apt-get', ['download', name, ...others, ...more], temporary)
    await unpack(temporary)
    await rm(folder, { recursive: true, force: true })
    await rename(temporary, folder)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function unpack(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.deb')) continue
    await run('dpkg', ['-x', name, '.'], folder)
    await rm(path.join(folder, name))
  }
}

async function run(command: string, args: string[], cwd: string): Promise<string> {
  const { code, stdout, tail } = await runChild(command, args, { cwd }).catch((cause: unknown) => {
    throw new Error(`it is unpacked from Debian's packages, and ${command} does not start here`, { cause })
  })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${tail}`)
  return stdout
}
