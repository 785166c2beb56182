import { createHash } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { promisify } from 'node:util'
import { build } from 'vite'

const folder = import.meta.dirname
const dist = path.join(folder, 'dist')
// The name of the content that was built. It is written last.
const stamp = 'content.sha256'

/** Builds the console, unless what is there was built from the same content. Returns whether it was built. */
export async function buildConsole(): Promise<boolean> {
  const content = await digestContent()
  if ((await readFile(path.join(dist, stamp), 'utf8').catch(() => '')) === content) return false
  const temporary = path.join(folder, `dist.${process.pid}.tmp`)
  try {
    await build({ configFile: path.join(folder, 'vite.config.ts'), logLevel: 'error', build: { outDir: temporary } })
    await compressAssets(path.join(temporary, 'assets'))
    await writeFile(path.join(temporary, stamp), content)
    await rm(dist, { recursive: true, force: true })
    await rename(temporary, dist)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  return true
}

/** The digest of everything that the console is built from: its sources, and the versions of its packages. */
async function digestContent(): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => !/^dist[./]/.test(name) && !name.endsWith('.test.ts'))
  const hash = createHash('sha256').update(await readFile(path.join(folder, '..', 'package-lock.json')))
  for (const name of files.toSorted()) hash.update(`\n${name}\n`).update(await readFile(path.join(folder, name)))
  return hash.digest('hex')
}

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
  gz: (bytes: Buffer) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
}

/** Writes each asset compressed beside it, so that a server never compresses. */
async function compressAssets(assets: string): Promise<void> {
  for (const name of await readdir(assets)) {
    const bytes = await readFile(path.join(assets, name))
    for (const [suffix, compress] of Object.entries(compressors))
      await writeFile(path.join(assets, `${name}.${suffix}`), await compress(bytes))
  }
}

if (import.meta.main) console.log((await buildConsole()) ? 'The console is built.' : 'The console is up to date.')
