import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import { runChild } from './run-child.ts'
import { minorOf, type Program, type Versions } from './versions.ts'

/** The path of the first executable file of this name in a list of folders. Of a path, it is that file. */
export async function findExecutable(
  name: string,
  folders: readonly string[],
  cwd = process.cwd(),
): Promise<string | undefined> {
  const files = name.includes('/') ? [path.resolve(cwd, name)] : folders.map((each) => path.resolve(cwd, each, name))
  for (const file of files) if (await isExecutable(file)) return file
  return undefined
}

/** Folders have the permission to execute too. */
async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

/** Whether a program from elsewhere fits the pinned control plane: Kubernetes parts of the same minor, etcd 3.5 or newer. */
export async function fitsControlPlane(program: Program, file: string, versions: Versions): Promise<boolean> {
  const output = await askVersion(file, program === 'helm' ? ['version'] : ['--version'])
  if (program === 'etcd') return /^etcd Version: 3\.([5-9]|\d\d)/m.test(output)
  if (program === 'helm') return /\bv4\./.test(output)
  return minorOf(output) === minorOf(versions.kubernetes)
}

/** Whether a kubectl may talk to the pinned API server: Kubernetes supports one minor of difference. */
export async function fitsKubectl(file: string, versions: Versions): Promise<boolean> {
  const minor = minorOf(await askVersion(file, ['version', '--client']))
  return minor !== undefined && Math.abs(minor - minorOf(versions.kubernetes)!) <= 1
}

async function askVersion(file: string, args: string[]): Promise<string> {
  try {
    return (await runChild(file, args, { signal: AbortSignal.timeout(10_000) })).stdout
  } catch {
    return ''
  }
}
