import { BlockList, isIP, isIPv4 } from 'node:net'
import { ConfigError } from '../config.ts'

// IANA's special-purpose registries, and an address of a cloud: Azure's wire server (168.63.129.16). The metadata
// services are in link-local, CGNAT and unique local ranges, which are all in this list.
const closedV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

// Only 2000::/3 is public. All else needs no list: mapped and translated IPv4 (NAT64), unique local, link-local and so
// on.
const publicV6 = ['2000::/3']

// Teredo and other protocols, documentation, 6to4, AS112, segment routing, documentation again.
const closedV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

const [closed, open] = [createList([...closedV4, ...closedV6]), createList(publicV6)]

/** Whether an address (not a name) may be requested. */
export type AddressCheck = (address: string) => boolean

/**
 * Allows public addresses, and those of the listed networks.
 *
 * @throws {ConfigError} for an entry that is not a network such as `10.0.0.0/8`
 */
export function createAddressCheck(privateNetworks: readonly string[]): AddressCheck {
  const listed = createList(privateNetworks)
  return (address) => {
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    // An IPv4 address written as IPv6, or an address with a zone, has no honest use.
    if (isIP(address) === 0 || address.includes('%') || /^::ffff:/i.test(address)) return false
    if (listed.check(address, family)) return true
    return (family === 'ipv4' || open.check(address, family)) && !closed.check(address, family)
  }
}

function createList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [, address = '', bits = ''] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(network) ?? []
    const version = isIP(address)
    if (version === 0 || Number(bits) > (version === 4 ? 32 : 128)) {
      throw new ConfigError('bad configuration: a private network must have the form 10.0.0.0/8 or fd00::/8')
    }
    list.addSubnet(address, Number(bits), version === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}
