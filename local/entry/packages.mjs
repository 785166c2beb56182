import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { withLock } from './lock.mjs'

/** Runs `npm ci` unless node_modules already holds what package-lock.json asks for. */
export async function installPackages(repository) {
  if (isInstalled(repository)) return
  await withLock(`npm ci ${repository}`, async () => {
    if (isInstalled(repository)) return
    await showProgress('installing npm packages', () => runNpmCi(repository))
    writeFileSync(stampOf(repository), digestOfLockfile(repository))
  })
}

function isInstalled(repository) {
  const installed = path.join(repository, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  const stamp = stampOf(repository)
  if (existsSync(stamp)) return readFileSync(stamp, 'utf8') === digestOfLockfile(repository)
  return statSync(installed).mtimeMs >= statSync(path.join(repository, 'package-lock.json')).mtimeMs
}

function stampOf(repository) {
  return path.join(repository, 'node_modules', '.trainyard-lockfile-digest')
}

function digestOfLockfile(repository) {
  return createHash('sha256')
    .update(readFileSync(path.join(repository, 'package-lock.json')))
    .digest('hex')
}

function runNpmCi(repository) {
  // npm may be missing from PATH. Scripts that npm runs get its path in this variable.
  const npm = process.env.npm_execpath
  const [command, ...prefix] = npm?.endsWith('.js') ? [process.execPath, npm] : [npm ?? 'npm']
  const args = [...prefix, 'ci', '--no-audit', '--no-fund', '--loglevel=error']
  return new Promise((resolve, reject) => {
    let output = ''
    const child = spawn(command, args, { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const forward = () => child.kill('SIGTERM')
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, forward)
    child.on('error', (error) =>
      reject(new Error(`npm does not start (${error.code}): install it, it comes with Node.`)),
    )
    child.on('exit', (code, signal) => {
      for (const name of ['SIGINT', 'SIGTERM']) process.off(name, forward)
      if (signal) process.exit(130)
      if (code === 0) return resolve()
      // After the reasons, npm prints its usage.
      const reasons = output.trim().split('\n').slice(0, 12).join('\n')
      reject(
        new Error(
          `${reasons}\nnpm ci failed (exit ${code}); see the output of npm above. Fix this and run the command again.`,
        ),
      )
    })
  })
}

async function showProgress(phase, work) {
  const started = Date.now()
  const elapsed = () => `${Math.round((Date.now() - started) / 1000)} s`
  const live = process.stdout.isTTY
  if (!live) process.stdout.write(`${phase} ...\n`)
  const timer = live && setInterval(() => process.stdout.write(`\r\x1b[K${phase}  ${elapsed()}`), 200)
  try {
    await work()
    process.stdout.write(`${live ? '\r\x1b[K' : ''}${phase}: done in ${elapsed()}\n`)
  } finally {
    clearInterval(timer)
  }
}
