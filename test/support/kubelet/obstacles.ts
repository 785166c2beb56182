import { existsSync, readFileSync } from 'node:fs'
import { runChild } from '../../../local/install/run-child.ts'
import type { Runtime } from './runtime.ts'

/** What a machine must have for a node in namespaces of its own. */
export interface Machine {
  platform: string
  user: number | undefined
  /** The commands below that are missing. */
  missing: string[]
  hasKernelLog: boolean
  /** The content of /proc/self/cgroup. */
  controlGroups: string
}

const commands = ['apt-get', 'dpkg', 'unshare', 'nsenter', 'ip', 'mount', 'bash', 'go']

export async function observeMachine(): Promise<Machine> {
  const found = await Promise.all(
    commands.map(async (name) => (await runChild('sh', ['-c', `command -v ${name}`])).code === 0),
  )
  return {
    platform: process.platform,
    user: process.getuid?.(),
    missing: commands.filter((_, index) => !found[index]),
    hasKernelLog: existsSync('/dev/kmsg'),
    controlGroups: existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '',
  }
}

/** Why no node can be started on a machine: a sentence, or undefined. */
export function findObstacle({ platform, user, missing, hasKernelLog, controlGroups }: Machine): string | undefined {
  if (platform !== 'linux') return 'It needs Linux.'
  if (user !== 0) return 'It needs root.'
  if (missing.length > 0) return `It needs these commands, which are missing: ${missing.join(', ')}.`
  if (!hasKernelLog) return 'It needs /dev/kmsg.'
  // Nobody has tried it where a tree of version 2 has the controllers.
  if (!/^\d+:(\S+,)?memory(,\S+)?:/m.test(controlGroups)) return 'It needs control groups of version 1.'
  return undefined
}

/** Whether namespaces can be made here and have a packet filter: a sentence if not. */
export async function tryNamespaces({ env }: Runtime): Promise<string | undefined> {
  const script = 'mount --make-rprivate / && mount -t sysfs sysfs /sys && nft add table inet trainyard'
  const args = ['--mount', '--net', '--pid', '--fork', '--uts', '--ipc', '--cgroup', '--mount-proc', 'sh', '-c', script]
  const { code, tail } = await runChild('unshare', args, { env: { ...process.env, ...env } })
  return code === 0 ? undefined : `It needs namespaces and nftables: ${tail}`
}
