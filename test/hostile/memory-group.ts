import { existsSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Processes that may have so much memory together, as those of a container. */
export interface MemoryGroup {
  /** A command that joins the group and then becomes another command. */
  wrap: (command: [string, ...string[]]) => [string, ...string[]]
  /** How many of its processes the kernel has ended for want of memory. */
  countKills: () => Promise<number>
  remove: () => Promise<void>
}

interface Version {
  folder: string
  /** Whether groups can be made here at all. */
  marker: string
  limitFile: string
  killsFile: string
}

// cgroup v2, and v1 where a machine has that.
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

/** Makes a group; undefined where this user, or this machine, can make none. */
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

/** A process that has ended is in its group for a moment longer. */
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
