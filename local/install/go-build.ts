import { chmod, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { childEnvironment } from '../config.ts'
import { Problem } from '../problem.ts'
import type { Phase } from '../terminal/board.ts'
import { runChild, type ChildResult } from './run-child.ts'
import { putInPlace } from './stamp.ts'
import type { Program, Versions } from './versions.ts'

const packages: Record<Program, string> = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  helm: 'helm.sh/helm/v4/cmd/helm',
}

export interface GoBuild {
  /** The folder with go.mod and go.sum. */
  goFolder: string
  binFolder: string
  versions: Versions
  phase: Phase
  signal: AbortSignal
}

/** Builds programs with Go from the pinned modules into `binFolder`. */
export async function buildWithGo(wanted: readonly Program[], build: GoBuild): Promise<void> {
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
  // etcd's package is called `v3`: built by itself, so that its output can be named.
  const named = wanted.filter((program) => program === 'etcd')
  const rest = wanted.filter((program) => program !== 'etcd')
  if (rest.length > 0) await compile(`${temporary}/`, rest, build, onLine)
  if (named.length > 0) await compile(path.join(temporary, 'etcd'), named, build, onLine)
  for (const program of wanted) {
    const built = path.join(temporary, program)
    await chmod(built, 0o755)
    await putInPlace(built, path.join(build.binFolder, program), 'built with Go')
  }
  await rm(temporary, { recursive: true, force: true })
}

async function requireGo({ goFolder, signal }: GoBuild, wanted: readonly Program[]): Promise<void> {
  const advice =
    'Install Go 1.26 or newer (https://go.dev/dl), or connect to the internet for the official builds, ' +
    'or set KUBEBUILDER_ASSETS to a folder that holds them.'
  const missing = `${wanted.join(', ')} could not be downloaded and must be built with Go`
  const result = await runChild('go', ['env', 'GOVERSION'], { cwd: goFolder, signal }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Problem(`${missing}, which is not installed. ${advice}`)
    throw error
  })
  if (result.code !== 0) throw new Problem(`${missing}, but this Go does not do (${result.tail}). ${advice}`)
}

/** How many packages a build from nothing compiles; downloads their modules on the way. */
async function countPackages(wanted: readonly Program[], { goFolder, phase, signal }: GoBuild): Promise<number> {
  let modules = 0
  phase.update('looking up Go modules')
  const onLine = (line: string) => {
    if (line.startsWith('go: downloading')) phase.update(`${++modules} modules downloaded`)
  }
  const args = ['list', '-deps', ...wanted.map((program) => packages[program])]
  const result = await runChild('go', args, { cwd: goFolder, signal, onLine, env: goEnvironment() })
  explainFailure(result, 'go list')
  return result.stdout.trim().split('\n').length
}

async function compile(
  output: string,
  wanted: readonly Program[],
  { goFolder, versions, signal }: GoBuild,
  onLine: (line: string) => void,
): Promise<void> {
  const args = ['build', '-v', '-trimpath', '-ldflags', linkerFlags(versions), '-o', output]
  const names = wanted.map((program) => packages[program])
  const result = await runChild('go', [...args, ...names], { cwd: goFolder, signal, onLine, env: goEnvironment() })
  explainFailure(result, 'go build')
}

/** Without these flags the programs take themselves for v0.0.0, and refuse each other. */
function linkerFlags({ kubernetes }: Versions): string {
  const [major, minor] = kubernetes.slice(1).split('.')
  const variables = { gitVersion: kubernetes, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  const settings = Object.entries(variables).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
  return ['-s', '-w', ...settings].join(' ')
}

function goEnvironment(): NodeJS.ProcessEnv {
  return childEnvironment({ CGO_ENABLED: '0' })
}

function explainFailure({ code, tail }: ChildResult, what: string): void {
  if (code === 0) return
  const advice = /no space left/.test(tail)
    ? 'The disk is full: free some space (Go keeps its files where `go env GOCACHE` says), then run this again.'
    : 'Run this again once that is put right; what was compiled is kept.'
  throw new Problem(`${tail}\n${what} failed (exit ${code}). ${advice}`)
}
