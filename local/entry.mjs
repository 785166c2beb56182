// The way in, for any Node >= 20 and without dependencies: it checks the machine, installs the npm packages (Node 24
// is one of them) and hands over to the TypeScript command.
import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { checkMachine } from './entry/machine.mjs'
import { installPackages } from './entry/packages.mjs'

const repository = path.dirname(import.meta.dirname)
const commands = {
  demo: 'local/demo.ts',
  up: 'local/up.ts',
  down: 'local/down.ts',
  key: 'local/key.ts',
  limits: 'local/limits.ts',
  garbage: 'local/garbage.ts',
  put: 'local/put.ts',
  test: 'test/run.ts',
  'test:hostile': 'test/hostile.ts',
  'test:mutations': 'test/mutations.ts',
  'test:gpu': 'test/gpu.ts',
  check: 'test/check.ts',
  bench: 'test/bench/run.ts',
  gen: 'crds/generate.ts',
}
const startsAStack = new Set(['demo', 'up', 'test', 'test:hostile', 'test:mutations', 'test:gpu', 'bench'])

function runCommand(file, args) {
  const bin = path.join(repository, 'node_modules', '.bin')
  const child = spawn(path.join(bin, 'node'), [path.join(repository, file), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}` },
  })
  // The terminal sends Ctrl-C to the child as well; a second SIGINT does no harm there.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`${path.join(bin, 'node')} does not start: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code))
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

async function main([command, ...args]) {
  const file = Object.hasOwn(commands, command ?? '') ? commands[command] : undefined
  if (!file) return fail(`usage: node local/entry.mjs ${Object.keys(commands).join('|')}`)
  try {
    checkMachine(repository, startsAStack.has(command))
    await installPackages(repository)
  } catch (error) {
    return fail(error.message)
  }
  runCommand(file, args)
}

await main(process.argv.slice(2))
