import { existsSync } from 'node:fs'
import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { unpackDebianPackage } from '../debian-package.ts'

/** Debian's containerd, runc, network plugins, nft and dnsmasq. */
export interface Runtime {
  containerd: string
  ctr: string
  runc: string
  /** The folder of the network plugins. */
  plugins: string
  /** With it, programs find these ones and their libraries. */
  env: { PATH: string; LD_LIBRARY_PATH: string }
}

const libraries = ['libseccomp2', 'libnftables1', 'libnftnl11', 'libjansson4', 'libmnl0', 'libxtables12', 'libedit2']
const ofDns = ['dnsmasq-base', 'libdbus-1-3', 'libsystemd0', 'libhogweed6', 'libnettle8', 'libidn2-0', 'libunistring2']
const others = ['libnetfilter-conntrack3', 'libnfnetlink0', 'libbsd0', 'libmd0']
const more = ['runc', 'containernetworking-plugins', 'nftables', ...libraries, ...ofDns, ...others]

/** Unpacks the runtime in the cache folder, once. Nothing is installed. */
export async function installRuntime(): Promise<Runtime> {
  const folder = path.join(readLocalConfig().cacheFolder, 'containerd')
  const runtime = locate(folder)
  if (!existsSync(runtime.containerd)) await unpackDebianPackage({ name: 'containerd', folder, more })
  return runtime
}

function locate(folder: string): Runtime {
  const at = (...parts: string[]) => path.join(folder, ...parts)
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
  return {
    containerd: at('usr', 'bin', 'containerd'),
    ctr: at('usr', 'bin', 'ctr'),
    runc: at('usr', 'sbin', 'runc'),
    plugins: at('usr', 'lib', 'cni'),
    env: {
      PATH: `${at('usr', 'bin')}:${at('usr', 'sbin')}:${process.env['PATH']}`,
      LD_LIBRARY_PATH: `${at('usr', 'lib', triplet)}:${at('lib', triplet)}`,
    },
  }
}
