import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'yaml'
import { group, plurals, version, type Kind } from '../../crds/names.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import { KubeError } from '../../lib/kube/error.ts'
import type { Logger } from '../../lib/log.ts'
import { listLacking, type Schema } from './compare.ts'

const folder = path.join(import.meta.dirname, '../../crds')
const retryMs = 2_000
// The rest is in the log.
const maxNamed = 3

interface Definition {
  spec: { versions: { schema: { openAPIV3Schema: Schema } }[] }
}

interface OpenApi {
  components: { schemas: Record<string, Schema & { 'x-kubernetes-group-version-kind'?: { kind: string }[] }> }
}

interface Deps {
  client: KubeClient
  log: Logger
}

/** Whether the cluster's custom resource definitions (CRDs) have all that this operator uses. */
export class CrdCheck {
  readonly #deps: Deps
  #trouble: string | undefined = 'the custom resource definitions were not read yet'

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Why this operator must not work with the CRDs; undefined if it can. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Resolves when the CRDs are there and not older than this operator, or when the signal aborts. */
  async pass(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#deps
    while (!signal.aborted) {
      const trouble = await explainDefinitions(client).catch((error: Error) => `cannot read the CRDs: ${error.message}`)
      if (trouble !== undefined && trouble !== this.#trouble) log.error({ trouble }, 'the operator waits for its CRDs')
      this.#trouble = trouble
      if (trouble === undefined) return
      await delay(retryMs, undefined, { signal }).catch(() => {})
    }
  }
}

/** Explains what the CRDs of the cluster lack; undefined if they lack nothing. Every service account may read their schemas. */
async function explainDefinitions(client: KubeClient): Promise<string | undefined> {
  const { components } = await client
    .request<OpenApi>({ path: `/openapi/v3/apis/${group}/${version}` })
    .catch(ignoreMissing)
  const present = Object.values(components.schemas)
  const lacking: string[] = []
  for (const kind of Object.keys(plurals) as Kind[]) {
    const found = present.find((schema) => schema['x-kubernetes-group-version-kind']?.some((id) => id.kind === kind))
    if (!found) return `the CRD of ${kind} is not installed. Install the chart with crds.enabled=true`
    lacking.push(...listLacking(await readNeeded(kind), pickOwn(found), kind))
  }
  return lacking.length === 0 ? undefined : describeLacking(lacking)
}

function describeLacking(lacking: string[]): string {
  const named =
    lacking.slice(0, maxNamed).join(', ') + (lacking.length > maxNamed ? ` and ${lacking.length - maxNamed} more` : '')
  return `the CRDs are older than this operator: they lack ${named}. Upgrade the release that installed them first`
}

async function readNeeded(kind: Kind): Promise<Schema> {
  const { spec } = parse(await readFile(path.join(folder, `${plurals[kind]}.yaml`), 'utf8')) as Definition
  return pickOwn(spec.versions[0]!.schema.openAPIV3Schema)
}

/** Kubernetes describes the other properties itself. */
function pickOwn({ properties: { spec = {}, status = {} } = {} }: Schema): Schema {
  return { properties: { spec, status } }
}

function ignoreMissing(error: unknown): OpenApi {
  if (error instanceof KubeError && error.status === 404) return { components: { schemas: {} } }
  throw error
}
