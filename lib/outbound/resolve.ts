import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AddressCheck } from './networks.ts'
import { AddressError } from './errors.ts'

/** Finds all addresses of a name, like `dns.lookup` (the hosts file, then DNS). */
export type Resolve = (
  name: string,
  options: { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * Creates a lookup for sockets that only returns allowed addresses. The socket connects to the checked address, so that
 * a second DNS answer cannot differ. A name with one forbidden address is rejected completely.
 */
export function createCheckedLookup(resolve: Resolve, isOpen: AddressCheck): LookupFunction {
  return (name, options, done) => {
    resolve(name, { all: true }, (failure, addresses) => {
      const error = failure ?? findAddressError(name, addresses, isOpen)
      if (error) done(error, '')
      else if (options.all) done(null, addresses)
      else done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

function findAddressError(name: string, addresses: LookupAddress[], isOpen: AddressCheck): Error | undefined {
  if (addresses.length === 0) return new Error('the name has no addresses')
  if (addresses.every(({ address }) => isOpen(address))) return undefined
  return new AddressError('network', `${name} resolves to a private or reserved network`)
}
