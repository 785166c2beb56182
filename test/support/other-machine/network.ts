import { runChild } from '../../../local/install/run-child.ts'

const withoutIpv6 = 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && ip link set lo up && exec "$@"'
const networks: Record<'root' | 'user', readonly string[]> = {
  root: ['unshare', '--net', 'sh', '-c', withoutIpv6, 'sh'],
  // Only its root may change a network. The second namespace gives the user their own number back.
  user: ['unshare', '--user', '--map-root-user', '--net', 'sh', '-c', withoutIpv6, 'sh'],
}

/** How to start a command on a machine without IPv6, or why that is impossible. */
export interface Network {
  through: readonly string[]
  obstacle?: string
}

/** A network of its own without IPv6, which also reaches nothing outside. */
export async function findNetwork(): Promise<Network> {
  const [uid, gid] = [process.getuid!(), process.getgid!()]
  const back = ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`]
  const through = uid === 0 ? networks.root : [...networks.user, ...back]
  const [program, ...args] = [...through, 'true']
  const tried = await runChild(program, args).catch((error: unknown) => ({ code: 1, tail: String(error) }))
  return tried.code === 0 ? { through } : { through: [], obstacle: `IPv6 stays: ${tried.tail}` }
}
