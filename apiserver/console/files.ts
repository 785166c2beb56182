import { readFile, readdir, stat } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import path from 'node:path'

/** A file of the built console, and its compressed copies. */
export interface BuiltFile {
  type: string
  bytes: Buffer
  /** By their names in Accept-Encoding. */
  compressed: ReadonlyMap<Encoding, Buffer>
}

/** A built console in memory. */
export interface BuiltConsole {
  /** Its links to assets begin with `./`. */
  page: string
  etag: string
  /** By name. They never change: their names contain digests. */
  assets: ReadonlyMap<string, BuiltFile>
}

export type Encoding = 'br' | 'gzip'

const suffixes: readonly [string, Encoding][] = [
  ['.br', 'br'],
  ['.gz', 'gzip'],
]

// Nothing else is served: a browser must not guess what a file is.
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** Reads the console's files once, and again when its page has changed. */
export class ConsoleFiles {
  readonly #folder: string
  #readMs = -1
  #built: Promise<BuiltConsole> | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The built console; undefined if there is none. */
  async read(): Promise<BuiltConsole | undefined> {
    const found = await stat(path.join(this.#folder, 'index.html')).catch(ignoreMissing)
    if (!found) return undefined
    if (this.#built && found.mtimeMs === this.#readMs) return this.#built
    this.#readMs = found.mtimeMs
    const built = readConsole(this.#folder)
    this.#built = built
    built.catch(() => (this.#readMs = -1))
    return built
  }
}

async function readConsole(folder: string): Promise<BuiltConsole> {
  const page = await readFile(path.join(folder, 'index.html'), 'utf8')
  const assetFolder = path.join(folder, 'assets')
  const names = new Set(await readdir(assetFolder))
  const assets = new Map<string, BuiltFile>()
  for (const name of names) {
    const type = types[path.extname(name)]
    if (type !== undefined) assets.set(name, { type, ...(await readCopies(assetFolder, name, names)) })
  }
  const etag = `"${createHash('sha256').update(page).digest('base64url')}"`
  return { page, etag, assets }
}

async function readCopies(folder: string, name: string, names: ReadonlySet<string>) {
  const compressed = new Map<Encoding, Buffer>()
  for (const [suffix, encoding] of suffixes) {
    if (names.has(name + suffix)) compressed.set(encoding, await readFile(path.join(folder, name + suffix)))
  }
  return { bytes: await readFile(path.join(folder, name)), compressed }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}
