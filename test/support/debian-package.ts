import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
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
