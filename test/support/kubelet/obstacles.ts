import { existsSync, readFileSync } from 'node:fs'
import { runChild } from '../../../local/install/run-child.ts'
import type { Runtime } from './runtime.ts'

const commands = ['apt-get', 'dpkg', 'unshare', 'nsenter', 'ip', 'mount', 'bash', 'go']

/** Why no node can be started in namespaces of its own on this machine: a sentence, or undefined. */
export async function findObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'It needs Linux.'
  if (process.getuid?.() !== 0) return 'It needs root.'
  const codes = await Promise.all(
    commands.map(async (name) => (await runChild('sh', ['-c', `command -v ${name}`])).code),
  )
  const missing = commands.filter((_, index) => codes[index] !== 0)
  if (missing.length > 0) return `It needs these commands, which are missing: ${missing.join(', ')}.`
  if (!existsSync('/dev/kmsg')) return 'It needs /dev/kmsg.'
  // Nobody has tried it where a tree of version 2 has the controllers.
  if (!/^\d+:(\S+,)?memory(,\S+)?:/m.test(readFileSync('/proc/self/cgroup', 'utf8')))
    return 'It needs control groups of version 1.'
  return undefined
}

/** Whether namespaces can be made here and have a packet filter: a sentence if not. */
export async function tryNamespaces({ env }: Runtime): Promise<string | undefined> {
  const script = 'mount --make-rprivate / && mount -t sysfs sysfs /sys && nft add table inet trainyard'
  const args = ['--mount', '--net', '--pid', '--fork', '--uts', '--ipc', '--cgroup', '--mount-proc', 'sh', '-c', script]
  const { code, tail } = await runChild('unshare', args, { env: { ...process.env, ...env } })
  return code === 0 ? undefined : `It needs namespaces and nftables: ${tail}`
}
