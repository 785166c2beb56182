import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { withLock } from '../../local/entry/lock.mjs'
import { buildWithGo } from '../../local/install/go-build.ts'
import { isComplete } from '../../local/install/stamp.ts'
import { Board } from '../../local/terminal/board.ts'

const program = 'versitygw'
const goFolder = path.join(import.meta.dirname, 's3')

/** Builds the tests' S3 server with Go from the pinned modules, or finds it in the cache. */
export async function installS3Server(): Promise<string> {
  const { cacheFolder } = readLocalConfig()
  const binFolder = path.join(cacheFolder, 'bin', `${program}-${await digestOfModules()}-${process.arch}`)
  const file = path.join(binFolder, program)
  if (await isComplete(file)) return file
  await new Board().run('building the S3 server of the tests', (phase) =>
    withLock(
      binFolder,
      async () => {
        if (await isComplete(file)) return
        await mkdir(binFolder, { recursive: true })
        const advice = 'Install Go 1.26 or newer (https://go.dev/dl).'
        const build = { goFolder, binFolder, advice, phase, signal: new AbortController().signal }
        const packages = { [program]: 'github.com/versity/versitygw/cmd/versitygw' }
        await buildWithGo([program], { ...build, packages, linkerFlags: '-s -w' })
      },
      { onWait: () => phase.update('another run is installing it; waiting') },
    ),
  )
  return file
}

async function digestOfModules(): Promise<string> {
  const hash = createHash('sha256')
  for (const name of ['go.mod', 'go.sum']) hash.update(await readFile(path.join(goFolder, name)))
  return hash.digest('hex').slice(0, 12)
}
