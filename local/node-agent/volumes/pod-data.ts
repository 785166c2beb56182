import { readObject } from '../../../lib/kube/apply.ts'
import type { KubeClient } from '../../../lib/kube/client.ts'
import type { ConfigMap, Secret } from '../objects.ts'

export type Data = Record<string, Buffer>

/** The config maps and secrets of one namespace. Undefined for one that does not exist. */
export class PodData {
  readonly #client: KubeClient
  readonly #base: string

  constructor(client: KubeClient, namespace: string) {
    this.#client = client
    this.#base = `/api/v1/namespaces/${namespace}`
  }

  async readConfigMap(name: string): Promise<Data | undefined> {
    const found = await readObject<ConfigMap>(this.#client, `${this.#base}/configmaps/${name}`)
    if (!found) return undefined
    return { ...mapValues(found.data ?? {}, 'utf8'), ...mapValues(found.binaryData ?? {}, 'base64') }
  }

  async readSecret(name: string): Promise<Data | undefined> {
    const found = await readObject<Secret>(this.#client, `${this.#base}/secrets/${name}`)
    return found && mapValues(found.data ?? {}, 'base64')
  }
}

/** The same values as texts, for variables. */
export function readText(data: Data | undefined): Record<string, string> | undefined {
  return data && Object.fromEntries(Object.entries(data).map(([name, value]) => [name, value.toString('utf8')]))
}

function mapValues(values: Record<string, string>, encoding: BufferEncoding): Data {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Buffer.from(value, encoding)]))
}
