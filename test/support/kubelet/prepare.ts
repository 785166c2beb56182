import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { runChild } from '../../../local/install/run-child.ts'
import type { Layout } from '../../../local/stack/layout.ts'
import { replaceJson } from '../../../local/stack/json-file.ts'
import { certificatesOf, prepareCertificates } from '../../../local/stack/programs/certificates.ts'
import { writeCredentials } from '../../../local/stack/programs/credentials.ts'
import type { StackSettings } from '../../../local/stack/settings.ts'
import { nodeAddress, serviceAddress } from './addresses.ts'
import {
  configureContainerd,
  configureKubelet,
  configureNetwork,
  configureProxy,
  shareFolders,
  type RuntimeSpec,
} from './configs.ts'
import type { NodeParts } from './parts.ts'
import { buildNodePrograms } from './programs.ts'

/** Writes the keys, certificates and settings of a node to its folder. */
export async function prepareNode(layout: Layout, parts: NodeParts, settings: StackSettings): Promise<void> {
  const { installation, runtime, programs } = parts
  const config = readLocalConfig()
  for (const folder of [layout.secrets, layout.etcd]) mkdirSync(folder, { mode: 0o700 })
  await prepareCertificates({
    layout,
    helm: installation.controlPlane.helm,
    chart: path.join(config.repository, 'local', 'certificates'),
    addresses: ['127.0.0.1', nodeAddress, serviceAddress],
    nodeAddresses: ['127.0.0.1', nodeAddress],
    signal: new AbortController().signal,
  })
  writeCredentials(layout, settings)
  await writeConfigs(layout, parts)
  const request = { layout, settings, config, installation, runtime, node: programs }
  replaceJson(layout.programs, await buildNodePrograms(request))
}

async function writeConfigs(layout: Layout, { runtime, shared }: NodeParts): Promise<void> {
  const at = (...names: string[]) => path.join(layout.root, 'config', ...names)
  mkdirSync(at('network'), { recursive: true })
  const write = (file: string, content: object | string) =>
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  const certificates = certificatesOf(layout)
  write(at('resolv.conf'), `nameserver ${nodeAddress}\n`)
  const { authority, kubelet: certificate, kubeletKey: key } = certificates
  write(at('kubelet.json'), configureKubelet({ authority, certificate, key, resolv: at('resolv.conf') }))
  // The administrator's rights: they stand for the ClusterRoles that an installer of clusters would make.
  write(at('proxy.json'), configureProxy(layout.kubeconfig))
  write(at('network', '10-pods.conflist'), configureNetwork())
  write(at('spec.json'), shareFolders(await readDefaultSpec(runtime), shared))
  write(at('containerd.toml'), configureContainerd(runtime, { network: at('network'), spec: at('spec.json') }))
  makeVolumes(layout)
}

async function readDefaultSpec({ ctr, env }: NodeParts['runtime']): Promise<RuntimeSpec> {
  const { code, stdout, tail } = await runChild(ctr, ['oci', 'spec'], { env: { ...process.env, ...env } })
  if (code !== 0) throw new Error(`ctr oci spec failed: ${tail}`)
  return JSON.parse(stdout) as RuntimeSpec
}

const volumeCount = 4

/** The folders of the node's volumes. */
export function listVolumeFolders(root: string): string[] {
  return Array.from({ length: volumeCount }, (_, index) => path.join(root, 'volumes', String(index)))
}

function makeVolumes({ root }: Layout): void {
  for (const folder of listVolumeFolders(root)) {
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o755)
  }
}
