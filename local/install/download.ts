import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { findChecksum, type Release } from './releases.ts'
import { runChild } from './run-child.ts'

/** An attempt that receives no byte for this long is aborted: the machine is offline, or the server is too slow. */
const idleTimeoutMs = 5_000

export interface DownloadProgress {
  signal: AbortSignal
  onProgress: (fraction: number | undefined) => void
}

/** Downloads a release, checks its sha256 and leaves the program at `file`, executable. */
export async function downloadProgram(release: Release, file: string, progress: DownloadProgress): Promise<void> {
  const folder = await mkdtemp(`${file}.download-`)
  try {
    const fileName = path.basename(new URL(release.url).pathname)
    const expected = findChecksum(await downloadText(release.checksumUrl, progress.signal), fileName)
    const downloaded = path.join(folder, fileName)
    const actual = await downloadFile(release.url, downloaded, progress)
    if (actual !== expected) throw new Error(`the sha256 of ${fileName} differs from the published one`)
    const program = release.member ? await extractMember(downloaded, release.member, progress.signal) : downloaded
    await chmod(program, 0o755)
    await rename(program, file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function downloadText(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(idleTimeoutMs)]) })
  if (!response.ok) throw new Error(`${url} answers ${response.status}`)
  return response.text()
}

async function downloadFile(url: string, file: string, { signal, onProgress }: DownloadProgress): Promise<string> {
  const idle = new AbortController()
  const timer = setTimeout(() => idle.abort(new Error(`${url} sends nothing`)), idleTimeoutMs)
  const hash = createHash('sha256')
  let received = 0
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, idle.signal]) })
    if (!response.ok || !response.body) throw new Error(`${url} answers ${response.status}`)
    const size = Number(response.headers.get('content-length')) || undefined
    const watch = new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        timer.refresh()
        hash.update(chunk)
        received += chunk.byteLength
        onProgress(size && received / size)
        done(null, chunk)
      },
    })
    await pipeline(response.body, watch, createWriteStream(file))
    return hash.digest('hex')
  } finally {
    clearTimeout(timer)
  }
}

async function extractMember(archive: string, member: string, signal: AbortSignal): Promise<string> {
  const folder = path.dirname(archive)
  const { code, tail } = await runChild('tar', ['-xzf', archive, '-C', folder, member], { signal })
  if (code !== 0) throw new Error(`tar failed on ${path.basename(archive)}: ${tail}`)
  return path.join(folder, member)
}
