import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'
import { judgePython, pythonCommands, pythonProbe } from './requirements.mjs'

const timeoutMs = 20_000

/** Runs a program to its end. `errorCode` says why it did not start. */
export function runProgram(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...options,
    encoding: 'utf8',
    timeout: timeoutMs,
  })
  return { code: status ?? 1, stdout: stdout ?? '', stderr: stderr ?? '', errorCode: error?.code }
}

/** The path of the first executable file of this name in a list of folders. */
export function findExecutable(name, folders) {
  return folders.map((folder) => path.resolve(folder, name)).find(isExecutable)
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Finds a Python that can be used. If there is none, says why the installed ones cannot be used. */
export function observePython() {
  const errors = []
  for (const command of pythonCommands) {
    const output = runProgram(command, ['-c', pythonProbe])
    const { version, error } = output.errorCode ? {} : judgePython(command, output)
    if (version) return { version, errors: [] }
    if (error) errors.push(error)
  }
  return { version: undefined, errors }
}

/**
 * Observes the installed Go: its minor version, which versions it may download, and its cache. Undefined if there is
 * none.
 */
export function observeGo() {
  // The command runs outside of a module. Inside, Go may download another release to answer.
  const { code, stdout } = runProgram('go', ['env', 'GOVERSION', 'GOTOOLCHAIN', 'GOCACHE'], { cwd: '/' })
  if (code !== 0) return undefined
  const [version = '', toolchain = '', cache = ''] = stdout.split('\n')
  return { version, minor: Number(/^go1\.(\d+)/.exec(version)?.[1] ?? Number.NaN), toolchain, cache }
}
