import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { defaultEntity } from '../../local/stack/api-key.ts'
import { ensureClientPython } from './client-python.ts'
import type { Stack } from './stack.ts'

const run = promisify(execFile)
const clients = path.join(import.meta.dirname, '..', 'clients')

// Clients that ask elsewhere (for a newer version of themselves, to tell of an error) meet a port that nobody listens on.
const nowhere = 'http://127.0.0.1:9'

/** The first test that needs an environment of packages installs it. */
export const clientTimeoutMs = 240_000

export interface ScriptRun {
  /** A folder of test/clients, for the packages and, but where `scripts` names another, the scripts. */
  packages: string
  scripts?: string
  project?: string
  env?: NodeJS.ProcessEnv
}

/** The project of a run as it is given where an entity is needed. */
export const projectId = (project: string) => `${defaultEntity}/${project}`

export const newProject = () => `p-${randomUUID()}`

/** Runs a script of Python in a folder of its own; gives the JSON of its last line. The error of one that fails holds what it wrote. */
export async function runPython<Facts>(stack: Stack, script: string, options: ScriptRun): Promise<Facts> {
  const { packages, scripts = packages, project = newProject(), env = {} } = options
  const python = await ensureClientPython(packages)
  const file = path.join(clients, scripts, `${script}.py`)
  return runScript(stack, [python, file], { WEAVE_PROJECT: project, ...env })
}

/** The same for a script that Node runs. */
export function runNode<Facts>(stack: Stack, script: string, env: NodeJS.ProcessEnv = {}): Promise<Facts> {
  return runScript(stack, [process.execPath, path.join(clients, script)], env)
}

async function runScript<Facts>(stack: Stack, [program, ...args]: string[], more: NodeJS.ProcessEnv): Promise<Facts> {
  const home = await mkdtemp(path.join(tmpdir(), 'trainyard-client-'))
  const env = { ...clientEnvironment(stack, home), ...more }
  try {
    const { stdout } = await run(program!, args, {
      env,
      cwd: home,
      maxBuffer: 64 * 1024 * 1024,
      timeout: clientTimeoutMs,
    })
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Facts
  } finally {
    await rm(home, { recursive: true })
  }
}

/** No address but that of the stack: where traces go, the SDKs find themselves. */
function clientEnvironment(stack: Stack, home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: home,
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
