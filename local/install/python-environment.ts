import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { childEnvironment, type LocalConfig } from '../config.ts'
import { withLock } from '../entry/lock.mjs'
import { UserError } from '../user-error.ts'
import type { Phase } from '../terminal/board.ts'
import type { InstallContext } from './context.ts'
import { findPython, type Python } from './python.ts'
import { runChild, type ChildResult } from './run-child.ts'

/** The environment with torch, transformers, PEFT and vLLM. */
export interface PythonEnvironment {
  binFolder: string
  python: string
}

export const uvVersion = '0.13.8'

/** The inputs of an environment: files of pinned packages, and of versions that override what packages require. */
export interface PythonSource {
  title: string
  requirements: string
  overrides?: string
  /** By default, one that the trainer's packages support. */
  python?: Python
}

/** Creates the environment for trainer and engine, or finds it in the cache. */
export function installTrainerEnvironment(context: InstallContext): Promise<PythonEnvironment> {
  return installPythonEnvironment(context, describeTrainer(context.config))
}

/** vLLM for GPUs is another package than vLLM for CPUs. */
export function describeTrainer({ repository, accelerator }: LocalConfig): PythonSource {
  const folder = path.join(repository, 'trainer')
  if (accelerator === 'cuda')
    return {
      title: 'making the Python environment for GPUs',
      requirements: path.join(folder, 'requirements-gpu.txt'),
    }
  return {
    title: 'making the Python environment',
    requirements: path.join(folder, 'requirements.txt'),
    overrides: path.join(folder, 'overrides.txt'),
  }
}

/** Creates an environment of pinned packages, or finds it in the cache. */
export async function installPythonEnvironment(
  context: InstallContext,
  source: PythonSource,
): Promise<PythonEnvironment> {
  const { config, board, signal } = context
  const python = source.python ?? (await findPython(config.searchPath, signal))
  const files = [source.requirements, ...(source.overrides ? [source.overrides] : [])]
  const pinned = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const key = environmentKey(pinned, python.version)
  const folder = path.join(config.cacheFolder, 'python', key)
  const environment = { binFolder: path.join(folder, 'bin'), python: path.join(folder, 'bin', 'python') }
  if (await isUsable(folder)) return environment
  return board.run(source.title, (phase) =>
    withLock(
      folder,
      async () => {
        if (await isUsable(folder)) return environment
        const uv = await installUv(python, config.cacheFolder, { phase, signal })
        await makeEnvironment(uv, { folder, python, source, phase, signal })
        return environment
      },
      { signal, onWait: () => phase.update('another run is installing it; waiting') },
    ),
  )
}

/** Environments with the same requirements and Python share a key. */
export function environmentKey(pinned: readonly string[], pythonVersion: string): string {
  const digest = createHash('sha256').update(pinned.join('\0')).digest('hex')
  return `${pythonVersion}-${process.arch}-${digest.slice(0, 12)}`
}

/**
 * Whether the environment is complete and its interpreter starts. The Python that it links to may have been removed.
 */
async function isUsable(folder: string): Promise<boolean> {
  const stamped = await readFile(stampOf(folder)).catch(() => undefined)
  if (!stamped) return false
  const started = await runChild(path.join(folder, 'bin', 'python'), ['-c', '']).catch(() => undefined)
  return started?.code === 0
}

function stampOf(folder: string): string {
  return `${folder}.complete`
}

interface Progress {
  phase: Phase
  signal: AbortSignal
}

/** Installs the pinned uv into a small environment of its own. The caller's lock covers the environment, but not uv. */
export async function installUv(python: Python, cacheFolder: string, { phase, signal }: Progress): Promise<string> {
  const folder = path.join(cacheFolder, 'uv', `${uvVersion}-${python.version}`)
  const uv = path.join(folder, 'bin', 'uv')
  return withLock(
    folder,
    async () => {
      const installed = await runChild(uv, ['--version'], { signal }).catch(() => undefined)
      if (installed?.code === 0) return uv
      phase.update(`installing uv ${uvVersion}`)
      await rm(folder, { recursive: true, force: true })
      await mkdir(path.dirname(folder), { recursive: true })
      explainFailure(await runChild(python.command, ['-m', 'venv', folder], { signal }), 'python -m venv')
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `uv==${uvVersion}`]
      explainFailure(await runChild(path.join(folder, 'bin', 'python'), pip, { signal }), 'pip install uv')
      return uv
    },
    { signal },
  )
}

interface BuildRequest extends Progress {
  folder: string
  python: Python
  source: PythonSource
}

async function makeEnvironment(uv: string, request: BuildRequest): Promise<void> {
  const { folder, python, source, phase, signal } = request
  await rm(stampOf(folder), { force: true })
  await rm(folder, { recursive: true, force: true })
  const onLine = (line: string) => phase.update(line.startsWith('Installed ') ? 'compiling to bytecode' : line.trim())
  explainFailure(await runChild(uv, ['venv', '--quiet', '--python', python.command, folder], { signal }), 'uv venv')
  phase.update('resolving packages')
  const install = ['pip', 'install', '--python', path.join(folder, 'bin', 'python')]
  const pinned = [...(source.overrides ? ['--override', source.overrides] : []), '-r', source.requirements]
  // Otherwise the first start of torch and vLLM would compile a hundred thousand files.
  const args = [...install, '--compile-bytecode', ...pinned]
  const env = childEnvironment({ UV_NO_PROGRESS: '1', UV_COMPILE_BYTECODE_TIMEOUT: '600' })
  explainFailure(await runChild(uv, args, { signal, onLine, env }), 'uv pip install')
  await writeFile(stampOf(folder), `${new Date().toISOString()}\n`)
}

function explainFailure({ code, tail }: ChildResult, what: string): void {
  if (code === 0) return
  const advice = /no space left/i.test(tail)
    ? 'The disk is full: free some space, or set TRAINYARD_CACHE to a folder on a larger disk, then run this again.'
    : 'It needs the internet, or a package index that pip is configured for. Fix this and run the command again.'
  throw new UserError(`${tail}\n${what} failed (exit ${code}). ${advice}`)
}
