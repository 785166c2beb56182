import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { certificatesOf } from '../../local/stack/programs/certificates.ts'
import { layoutOf } from '../../local/stack/layout.ts'
import type { Stack } from './stack.ts'

/** A stack's address behind TLS, as an ingress would provide it. */
export interface TlsFront {
  url: string
  /** The file with the certificate of the authority to trust. */
  authority: string
  close: () => Promise<void>
}

/** Opens a TLS front on a free port of 127.0.0.1, with the certificate of the stack's kube-apiserver. */
export async function openTlsFront(stack: Stack): Promise<TlsFront> {
  const { authority, apiserver, apiserverKey } = certificatesOf(layoutOf(stack.stateFolder))
  const target = new URL(stack.url)
  const server = createServer({ cert: readFileSync(apiserver), key: readFileSync(apiserverKey) }, (incoming) => {
    const outgoing = connect(Number(target.port), target.hostname)
    incoming.on('error', () => outgoing.destroy()).on('close', () => outgoing.destroy())
    outgoing.on('error', () => incoming.destroy()).on('close', () => incoming.destroy())
    incoming.pipe(outgoing).pipe(incoming)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authority,
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
