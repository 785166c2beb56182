import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { withLock } from '../../local/entry/lock.mjs'
import { buildWithGo } from '../../local/install/go-build.ts'
import { isComplete } from '../../local/install/stamp.ts'
import { Board } from '../../local/terminal/board.ts'

interface GoTool {
  program: string
  /** Of the tool's main package. */
  package: string
  /** The folder beside this file with the go.mod that pins it. */
  folder: string
  linkerFlags?: string
}

/** Builds a tool of the tests with Go from the pinned modules, or finds it in the cache. Returns the program's file. */
export async function installGoTool(tool: GoTool): Promise<string> {
  const { program, package: goPackage, folder, linkerFlags = '' } = tool
  const goFolder = path.join(import.meta.dirname, folder)
  const key = `${program}-${await digestOfModules(goFolder)}-${process.arch}`
  const binFolder = path.join(readLocalConfig().cacheFolder, 'bin', key)
  const file = path.join(binFolder, program)
  if (await isComplete(file)) return file
  await new Board().run(`building ${program} for the tests`, (phase) =>
    withLock(
      binFolder,
      async () => {
        if (await isComplete(file)) return
        await mkdir(binFolder, { recursive: true })
        const advice = 'Install Go 1.26 or newer (https://go.dev/dl).'
        const build = { goFolder, binFolder, advice, phase, signal: new AbortController().signal }
        await buildWithGo([program], {
          ...build,
          packages: { [program]: goPackage },
          linkerFlags: `-s -w ${linkerFlags}`,
        })
      },
      { onWait: () => phase.update('another run is installing it; waiting') },
    ),
  )
  return file
}

async function digestOfModules(goFolder: string): Promise<string> {
  const hash = createHash('sha256')
  for (const name of ['go.mod', 'go.sum']) hash.update(await readFile(path.join(goFolder, name)))
  return hash.digest('hex').slice(0, 12)
}
