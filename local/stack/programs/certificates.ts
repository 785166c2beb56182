import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runChild } from '../../install/run-child.ts'
import { UserError } from '../../user-error.ts'
import type { Layout } from '../layout.ts'

/** The stack's certificate authority, and the certificates that it signed. */
export interface Certificates {
  authority: string
  apiserver: string
  apiserverKey: string
  kubelet: string
  kubeletKey: string
  /** kube-apiserver's client certificate for the node agent, to read logs. */
  kubeletClient: string
  kubeletClientKey: string
}

export function certificatesOf({ certificates }: Layout): Certificates {
  const at = (name: string) => path.join(certificates, name)
  return {
    authority: at('ca.crt'),
    apiserver: at('kube-apiserver.crt'),
    apiserverKey: at('kube-apiserver.key'),
    kubelet: at('kubelet.crt'),
    kubeletKey: at('kubelet.key'),
    kubeletClient: at('kubelet-client.crt'),
    kubeletClientKey: at('kubelet-client.key'),
  }
}

export interface CertificatesRequest {
  layout: Layout
  helm: string
  /** The chart in `local/certificates`. */
  chart: string
  /** The addresses of kube-apiserver. */
  addresses: string[]
  /** The addresses of the node, if it does not listen on 127.0.0.1 only. */
  nodeAddresses?: string[]
  signal: AbortSignal
}

/** Creates the certificates on first use: all of them or none. */
export async function prepareCertificates(request: CertificatesRequest): Promise<void> {
  const { certificates } = request.layout
  if (existsSync(certificates)) return
  const fresh = `${certificates}.tmp`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { recursive: true, mode: 0o700 })
  for (const [name, content] of Object.entries(await renderCertificates(request))) {
    writeFileSync(path.join(fresh, name), content, { mode: 0o600 })
  }
  renameSync(fresh, certificates)
}

async function renderCertificates({ helm, chart, addresses, nodeAddresses, signal }: CertificatesRequest) {
  const lists = Object.entries({ addresses, ...(nodeAddresses && { nodeAddresses }) })
  const set = lists.flatMap(([name, list]) => ['--set-json', `${name}=${JSON.stringify(list)}`])
  const { code, stdout, tail } = await runChild(helm, ['template', 'certificates', chart, ...set], { signal })
  if (code !== 0) throw new UserError(`${tail}\nThe certificates could not be created; see the output of Helm above.`)
  const secret = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { stringData: Record<string, string> }
  return secret.stringData
}
