import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { programs } from './requirements.mjs'
import { unshareFolders } from './unprivileged-user.mjs'

// Each lack is real, and so is the command: what it prints is what a user sees. If it missed a lack, it would begin to
// install, and the test would end it.

const entry = path.join(import.meta.dirname, '..', 'entry.mjs')
const timeoutMs = 30_000

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'preflight-'))
})
afterEach(() => rm(folder, { recursive: true }))

interface Outcome {
  code: unknown
  stdout: string
  errors: string[]
}

function run(program: string, args: string[], env: Record<string, string>): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { env, timeout: timeoutMs }, (error, stdout, stderr) =>
      resolve({ code: error?.code, stdout, errors: stderr.trim().split('\n') }),
    )
    child.stdin?.end()
  })
}

/** Fake programs of the control plane, so that the command neither searches for Go nor calls a host. */
async function makeAssets(): Promise<string> {
  const assets = path.join(folder, 'assets')
  await mkdir(assets)
  for (const program of programs) await writeFile(path.join(assets, program), '#!/bin/sh\n', { mode: 0o755 })
  return assets
}

test('a taken port, a folder that cannot be created and a missing Python are reported together, before any download', async () => {
  const server = net.createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await writeFile(path.join(folder, 'file'), '')
  const cache = path.join(folder, 'cache')
  const outcome = await run(process.execPath, [entry, 'up'], {
    PATH: path.join(folder, 'no-programs'),
    KUBEBUILDER_ASSETS: await makeAssets(),
    TRAINYARD_CACHE: cache,
    TRAINYARD_STATE: path.join(folder, 'file', 'state'),
    TRAINYARD_PORT: String(port),
  })
  server.close()
  expect(outcome).toMatchObject({ code: 1, stdout: '' })
  expect(outcome.errors).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/\/file cannot be written to \(EACCES\)\. .*Set TRAINYARD_STATE to a folder that serves\./),
      expect.stringMatching(`^Port ${port} is taken by \\S+ \\(process ${process.pid}\\)\\. End that program`),
      expect.stringMatching(/^Trainyard needs Python 3\.11, 3\.12 or 3\.13 with its venv module\. Install it/),
    ]),
  )
  expect(await readdir(cache)).toEqual([])
})

test.skipIf(process.getuid?.() === 0)('a read-only folder is named', async () => {
  const env = {
    PATH: '',
    KUBEBUILDER_ASSETS: await makeAssets(),
    TRAINYARD_CACHE: path.join(folder, 'cache'),
    TRAINYARD_STATE: path.join(folder, 'state'),
  }
  await chmod(folder, 0o555)
  const { code, errors } = await run(process.execPath, [entry, 'up'], env)
  await chmod(folder, 0o755)
  expect(code).toBe(1)
  expect(errors.join('\n')).toContain(`${folder} cannot be written to (EACCES)`)
})

const unshare = unshareFolders.map((each) => path.join(each, 'unshare')).find((file) => existsSync(file)) ?? 'unshare'

/** Arguments of unshare for a private mount namespace and network, if this machine allows them. */
const ownMounts = [[], ['--user', '--map-root-user']]
  .map((identity) => [...identity, '--mount', '--net', '--'])
  .find((args) => spawnSync(unshare, [...args, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0)

// The cache is on a small disk with noexec, the state folder is read-only, and there is no network, Go or Python.
const lacking = `
mount -t tmpfs -o size=64m,noexec none "$1/small" && mount -t tmpfs -o ro none "$1/closed" || exit 7
PATH=/none TRAINYARD_CACHE="$1/small/cache" TRAINYARD_STATE="$1/closed/state" "$2" "$3" up
code=$?
ls -A "$1/small/cache"
exit $code`

test.skipIf(!ownMounts)('disks, mounts, Go and Python are checked together, and the cache stays empty', async () => {
  await mkdir(path.join(folder, 'small'))
  await mkdir(path.join(folder, 'closed'))
  const script = ['/bin/sh', '-c', lacking, 'sh', folder, process.execPath, entry]
  const outcome = await run(unshare, [...ownMounts!, ...script], { PATH: process.env['PATH']! })
  expect(outcome).toMatchObject({ code: 1, stdout: '' })
  expect(outcome.errors.filter((error) => !error.includes('of memory are free'))).toEqual([
    `Programs cannot be run from ${folder}/small/cache: its disk is mounted with noexec. ` +
      'Set TRAINYARD_CACHE to a folder that serves.',
    expect.stringMatching(/\/closed cannot be written to \(EROFS\)\. .*Set TRAINYARD_STATE/),
    expect.stringMatching(
      /^The disk of \S+\/small\/cache has 0\.1 GiB free, and 7\.5 GiB are needed: Python environment/,
    ),
    expect.stringContaining('Trainyard needs Python 3.11, 3.12 or 3.13'),
    expect.stringMatching(
      /cannot be downloaded \(no answer from github\.com, dl\.k8s\.io, get\.helm\.sh\) and must be/,
    ),
  ])
})
