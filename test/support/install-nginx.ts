import path from 'node:path'
import { runChild } from '../../local/install/run-child.ts'
import { readLocalConfig } from '../../local/config.ts'
import { unpackDebianPackage } from './debian-package.ts'

/** The libraries that nginx is linked with, except the C library, which is the machine's own. */
const libraries = /^\s*Depends: (lib(?:pcre|ssl|crypt)\S*|zlib\S*)$/gm

export interface InstalledNginx {
  command: string
  env: Record<string, string>
}

/** Unpacks Debian's nginx in the cache folder, without installing it. @throws {Error} if apt does not have it */
export async function installNginx(): Promise<InstalledNginx> {
  const folder = path.join(readLocalConfig().cacheFolder, 'nginx')
  const found = locate(folder)
  if (await works(found)) return found
  await unpackDebianPackage({ name: 'nginx', folder, libraries })
  if (!(await works(found))) throw new Error(`${found.command} does not start`)
  return found
}

function locate(folder: string): InstalledNginx {
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
  const folders = ['usr/lib', 'lib'].map((below) => path.join(folder, below, triplet))
  return { command: path.join(folder, 'usr', 'sbin', 'nginx'), env: { LD_LIBRARY_PATH: folders.join(':') } }
}

async function works({ command, env }: InstalledNginx): Promise<boolean> {
  const started = await runChild(command, ['-v'], { env: { ...process.env, ...env } }).catch(() => undefined)
  return started?.code === 0
}
