import { BlockList, isIP, isIPv6 } from 'node:net'

/** Compiles networks in CIDR form and single addresses. @throws {RangeError} for a network that is none */
export function readNetworks(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address)
    if (family === 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits)))
      throw new RangeError(`${network} is no address and no network in CIDR form`)
    const type = family === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, type)
    else list.addSubnet(address, Number(bits), type)
  }
  return list
}

/** Whether the address of a socket is in a list. */
export function isListed(list: BlockList, remote: string): boolean {
  const address = unmap(remote)
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/**
 * What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, because a client has all addresses
 * of its network.
 */
export function clientOf(remote: string | undefined): string {
  const address = unmap(remote ?? '')
  if (!isIPv6(address)) return address
  const [front = '', back] = address.split('::')
  const [first, last] = [front, back ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = back === undefined ? 0 : 8 - first!.length - last!.length
  const groups = [...first!, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last!]
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** IPv4 addresses that arrive on an IPv6 socket count as IPv4. */
function unmap(remote: string): string {
  return remote.replace(/^::ffff:(?=\d+\.)/i, '')
}
