// The entry point. It runs on Node >= 20 without dependencies: it checks the machine, installs the npm packages (Node
// 24 is one of them) and starts the TypeScript command.
import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { minNodeMajor } from './preflight/requirements.mjs'

const repository = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const commands = {
  demo: 'local/demo.ts',
  up: 'local/up.ts',
  down: 'local/down.ts',
  key: 'local/key.ts',
  console: 'local/console.ts',
  limits: 'local/limits.ts',
  garbage: 'local/garbage.ts',
  queue: 'local/queue.ts',
  put: 'local/put.ts',
  backup: 'local/backup.ts',
  restore: 'local/restore.ts',
  test: 'test/run.ts',
  'test:faults': 'test/faults.ts',
  'test:mutations': 'test/mutations.ts',
  'test:python': 'test/python.ts',
  'test:gpu': 'test/gpu.ts',
  'test:newest-clients': 'test/newest-clients.ts',
  'build:console': 'console/build.ts',
  check: 'test/check.ts',
  'images:pin': 'test/images-pin.ts',
  bench: 'test/bench/run.ts',
  gen: 'crds/generate.ts',
}
const startsAStack = new Set([
  'demo',
  'up',
  'test',
  'test:faults',
  'test:mutations',
  'test:gpu',
  'test:newest-clients',
  'restore',
  'bench',
])
/** Tests use any free port instead. */
const hasPublicPort = new Set(['demo', 'up'])

function runCommand(file, args) {
  const bin = path.join(repository, 'node_modules', '.bin')
  const child = spawn(path.join(bin, 'node'), [path.join(repository, file), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}` },
  })
  // The terminal sends Ctrl-C to the child too. A second signal does no harm there.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`${path.join(bin, 'node')} does not start: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code))
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

/** These modules are loaded after the check of Node's version: an older Node cannot load them. */
async function prepare(command, args) {
  const { runPreflight } = await import('./preflight/preflight.mjs')
  const needs = { startsAStack: startsAStack.has(command), hasPublicPort: hasPublicPort.has(command) }
  const errors = await runPreflight(repository, { ...needs, args, env: process.env })
  if (errors.length > 0) return fail(errors.join('\n'))
  const { installPackages } = await import('./entry/packages.mjs')
  await installPackages(repository)
}

async function main([command, ...args]) {
  const file = Object.hasOwn(commands, command ?? '') ? commands[command] : undefined
  if (!file) return fail(`usage: node local/entry.mjs ${Object.keys(commands).join('|')}`)
  const major = Number(process.versions.node.split('.')[0])
  if (major < minNodeMajor) {
    return fail(`Trainyard needs Node ${minNodeMajor} or newer; this is ${process.version}. Install a newer one.`)
  }
  try {
    await prepare(command, args)
  } catch (error) {
    return fail(error.message)
  }
  runCommand(file, args)
}

await main(process.argv.slice(2))
