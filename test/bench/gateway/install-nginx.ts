import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { runChild } from '../../../local/install/run-child.ts'
import { readLocalConfig } from '../../../local/config.ts'

/** The libraries that nginx is linked with, except the C library, which is the machine's own. */
const libraryPattern = /^\s*Depends: (lib(?:pcre|ssl|crypt)\S*|zlib\S*)$/gm

export interface InstalledNginx {
  command: string
  env: Record<string, string>
}

/** Unpacks Debian's nginx in the cache folder, without installing it. @throws {Error} if apt does not have it */
export async function installNginx(): Promise<InstalledNginx> {
  const folder = path.join(readLocalConfig().cacheFolder, 'nginx')
  const found = locate(folder)
  if (await works(found)) return found
  const making = `${folder}.${process.pid}`
  try {
    await unpack(making)
    await rm(folder, { recursive: true, force: true })
    await rename(making, folder)
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  if (!(await works(found))) throw new Error(`${found.command} does not start`)
  return found
}

async function unpack(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const depends = await run('apt-cache', ['depends', 'nginx'], folder)
  const libraries = [...depends.matchAll(libraryPattern)].map((match) => match[1]!)
  await run('apt-get', ['download', 'nginx', ...libraries], folder)
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

function locate(folder: string): InstalledNginx {
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
  const libraries = ['usr/lib', 'lib'].map((below) => path.join(folder, below, triplet))
  return { command: path.join(folder, 'usr', 'sbin', 'nginx'), env: { LD_LIBRARY_PATH: libraries.join(':') } }
}

async function works({ command, env }: InstalledNginx): Promise<boolean> {
  const started = await runChild(command, ['-v'], { env: { ...process.env, ...env } }).catch(() => undefined)
  return started?.code === 0
}
