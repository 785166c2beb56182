import { chmod, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { childEnvironment } from '../config.ts'
import { UserError } from '../user-error.ts'
import type { Phase } from '../terminal/board.ts'
import { runChild, type ChildResult } from './run-child.ts'
import { moveWithStamp } from './stamp.ts'

export interface GoBuild {
  /** The folder with go.mod and go.sum. */
  goFolder: string
  binFolder: string
  /** The Go package of each program. */
  packages: Readonly<Record<string, string>>
  linkerFlags: string
  /** What the user can do if Go is missing. */
  advice: string
  phase: Phase
  signal: AbortSignal
}

/** Builds programs with Go from the pinned modules into `binFolder`. */
export async function buildWithGo(wanted: readonly string[], build: GoBuild): Promise<void> {
  await requireGo(build, wanted)
  const total = await countPackages(wanted, build)
  const temporary = path.join(build.binFolder, 'building.tmp')
  await rm(temporary, { recursive: true, force: true })
  await mkdir(temporary, { recursive: true })
  let compiled = 0
  build.phase.update('compiling with Go', 0)
  const onLine = (line: string) => {
    if (/^[\w.-]+(\/[\w.~-]+)*$/.test(line)) build.phase.update(line, ++compiled / total)
  }
  // A package whose name differs from the program (etcd's is called `v3`) is built by itself, so that its output can be
  // named.
  const named = wanted.filter((program) => path.posix.basename(build.packages[program]!) !== program)
  const rest = wanted.filter((program) => !named.includes(program))
  if (rest.length > 0) await compile(`${temporary}/`, rest, build, onLine)
  for (const program of named) await compile(path.join(temporary, program), [program], build, onLine)
  for (const program of wanted) {
    const built = path.join(temporary, program)
    await chmod(built, 0o755)
    await moveWithStamp(built, path.join(build.binFolder, program), 'built with Go')
  }
  await rm(temporary, { recursive: true, force: true })
}

async function requireGo({ goFolder, advice, signal }: GoBuild, wanted: readonly string[]): Promise<void> {
  const missing = `${wanted.join(', ')} must be built with Go`
  const result = await runChild('go', ['env', 'GOVERSION'], { cwd: goFolder, signal }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UserError(`${missing}, which is not installed. ${advice}`)
    throw error
  })
  if (result.code !== 0)
    throw new UserError(`${missing}, but this version of Go does not work (${result.tail}). ${advice}`)
}

/** Counts the packages that a build from nothing compiles. It also downloads their modules. */
async function countPackages(
  wanted: readonly string[],
  { goFolder, packages, phase, signal }: GoBuild,
): Promise<number> {
  let modules = 0
  phase.update('looking up Go modules')
  const onLine = (line: string) => {
    if (line.startsWith('go: downloading')) phase.update(`${++modules} modules downloaded`)
  }
  const args = ['list', '-deps', ...wanted.map((program) => packages[program]!)]
  const result = await runChild('go', args, { cwd: goFolder, signal, onLine, env: goEnvironment() })
  explainFailure(result, 'go list')
  return result.stdout.trim().split('\n').length
}

async function compile(
  output: string,
  wanted: readonly string[],
  { goFolder, packages, linkerFlags, signal }: GoBuild,
  onLine: (line: string) => void,
): Promise<void> {
  const args = ['build', '-v', '-trimpath', '-ldflags', linkerFlags, '-o', output]
  const names = wanted.map((program) => packages[program]!)
  const result = await runChild('go', [...args, ...names], { cwd: goFolder, signal, onLine, env: goEnvironment() })
  explainFailure(result, 'go build')
}

function goEnvironment(): NodeJS.ProcessEnv {
  return childEnvironment({ CGO_ENABLED: '0' })
}

function explainFailure({ code, tail }: ChildResult, what: string): void {
  if (code === 0) return
  const advice = /no space left/.test(tail)
    ? 'The disk is full: free some space (Go keeps its files where `go env GOCACHE` says), then run this again.'
    : 'Fix this and run the command again. The compiled files are kept.'
  throw new UserError(`${tail}\n${what} failed (exit ${code}). ${advice}`)
}
