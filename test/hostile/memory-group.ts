import { existsSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Processes that share a memory limit, as in a container. */
export interface MemoryGroup {
  /** A command that joins the group and then runs another command. */
  wrap: (command: [string, ...string[]]) => [string, ...string[]]
  /** Counts the processes of the group that the kernel killed for lack of memory. */
  countKills: () => Promise<number>
  remove: () => Promise<void>
}

interface Version {
  folder: string
  /** Exists if groups can be created with this version. */
  marker: string
  limitFile: string
  killsFile: string
}

// cgroup v2, or v1 on a machine with that.
const versions: Version[] = [
  {
    folder: '/sys/fs/cgroup',
    marker: 'cgroup.subtree_control',
    limitFile: 'memory.max',
    killsFile: 'memory.events',
  },
  {
    folder: '/sys/fs/cgroup/memory',
    marker: 'memory.use_hierarchy',
    limitFile: 'memory.limit_in_bytes',
    killsFile: 'memory.oom_control',
  },
]

/** Creates a group. Undefined if this user or this machine cannot. */
export async function createMemoryGroup(name: string, maxBytes: number): Promise<MemoryGroup | undefined> {
  for (const version of versions) {
    const folder = path.join(version.folder, name)
    if (existsSync(path.join(version.folder, version.marker)) && (await tryToMake(folder, version, maxBytes)))
      return openGroup(folder, version)
  }
  return undefined
}

async function tryToMake(folder: string, { limitFile }: Version, maxBytes: number): Promise<boolean> {
  try {
    await mkdir(folder)
  } catch {
    return false
  }
  try {
    await writeFile(path.join(folder, limitFile), String(maxBytes))
    return true
  } catch {
    await rmdir(folder)
    return false
  }
}

function openGroup(folder: string, { killsFile }: Version): MemoryGroup {
  const processes = path.join(folder, 'cgroup.procs')
  return {
    wrap: (command) => ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', processes, ...command],
    countKills: async () => {
      const text = await readFile(path.join(folder, killsFile), 'utf8')
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0)
    },
    remove: () => removeWhenEmpty(folder),
  }
}

/** An ended process stays in its group for a moment. */
async function removeWhenEmpty(folder: string): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (isGone) return
    await delay(100)
  }
  throw new Error(`${folder} still has processes`)
}
