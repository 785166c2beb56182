import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { defaultEntity } from '../../local/stack/api-key.ts'
import { ensureClientPython } from './client-python.ts'
import { findNewestNode } from './newest-clients.ts'
import type { ApiStack } from './services.ts'

const run = promisify(execFile)
const clients = path.join(import.meta.dirname, '..', 'clients')

// Clients may contact other hosts (to look for a newer version, or to report an error). No program listens on this
// port.
const nowhere = 'http://127.0.0.1:9'

/** The first test that needs an environment installs its packages. */
export const clientTimeoutMs = 240_000

export interface ScriptRun {
  /** A folder of test/clients with the packages. It also has the scripts, unless `scripts` names another folder. */
  packages: string
  scripts?: string
  project?: string
  env?: NodeJS.ProcessEnv
  timeoutMs?: number | undefined
}

interface Program {
  command: string[]
  env: NodeJS.ProcessEnv
  timeoutMs?: number | undefined
}

/** What a script said: the JSON of its last line, and all that its libraries printed. */
interface ScriptEnd<Facts> {
  facts: Facts
  printed: string
}

/** The project of a run with its entity. */
export const projectId = (project: string) => `${defaultEntity}/${project}`

export const newProject = () => `p-${randomUUID()}`

/**
 * Runs a Python script in its own folder. Returns the JSON of its last line. If it fails, the error contains its
 * output.
 */
export async function runPython<Facts>(stack: ApiStack, script: string, options: ScriptRun): Promise<Facts> {
  return (await listenToPython<Facts>(stack, script, options)).facts
}

/** The same, with what the libraries print for people. */
export async function listenToPython<Facts>(
  stack: ApiStack,
  script: string,
  { packages, scripts = packages, project = newProject(), env = {}, timeoutMs }: ScriptRun,
): Promise<ScriptEnd<Facts>> {
  const python = await ensureClientPython(packages)
  const command = [python, path.join(clients, scripts, `${script}.py`)]
  return runScript(stack, { command, env: { WEAVE_PROJECT: project, ...env }, timeoutMs })
}

/** The same for a Node script. */
export async function runNode<Facts>(
  stack: ApiStack,
  script: string,
  env: NodeJS.ProcessEnv = {},
  args: string[] = [],
): Promise<Facts> {
  return (
    await runScript<Facts>(stack, {
      command: [findNewestNode() ?? process.execPath, path.join(clients, script), ...args],
      env,
    })
  ).facts
}

async function runScript<Facts>(stack: ApiStack, program: Program): Promise<ScriptEnd<Facts>> {
  const { command, env, timeoutMs: timeout = clientTimeoutMs } = program
  const home = await mkdtemp(path.join(tmpdir(), 'trainyard-client-'))
  try {
    const { stdout, stderr } = await run(command[0]!, command.slice(1), {
      env: { ...clientEnvironment(stack, home), ...env },
      cwd: home,
      maxBuffer: 64 * 1024 * 1024,
      timeout,
    })
    const last = stdout.trim().split('\n').at(-1) ?? ''
    return { facts: JSON.parse(last) as Facts, printed: stdout + stderr }
  } finally {
    await rm(home, { recursive: true })
  }
}

/** The only address is that of the stack. The SDKs derive the address for traces from it. */
function clientEnvironment(stack: ApiStack, home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: home,
    // The SDK keeps what it has read there, and each write searches all of it.
    TMPDIR: home,
    LANG: 'C.UTF-8',
    PYTHONDONTWRITEBYTECODE: '1',
    WANDB_BASE_URL: stack.url,
    WANDB_API_KEY: stack.apiKey,
    WANDB_ERROR_REPORTING: 'false',
    WEAVE_PRINT_CALL_LINK: 'false',
    HTTPS_PROXY: nowhere,
    NO_PROXY: '127.0.0.1',
  }
}
