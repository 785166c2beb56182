import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { ConfigError } from '../lib/config.ts'

/** A namespace of tenants, and the entities that its resources may name. */
export interface Tenant {
  namespace: string
  entities: readonly string[]
}

/** In which namespaces Models and TrainingJobs are watched, and whose data they may use. */
export class Tenants {
  /** Of the operator, with the resources that the apiserver makes, and of the tenants. */
  readonly namespaces: readonly string[]
  readonly #entities: ReadonlyMap<string, ReadonlySet<string>>

  constructor(ownNamespace: string, tenants: readonly Tenant[]) {
    this.namespaces = [...new Set([ownNamespace, ...tenants.map(({ namespace }) => namespace)])]
    const grouped = Map.groupBy(tenants, ({ namespace }) => namespace)
    this.#entities = new Map(
      [...grouped].map(([namespace, given]) => [namespace, new Set(given.flatMap(({ entities }) => entities))]),
    )
  }

  /** Whether a resource in a namespace may name an entity. Without a list, who may write there may name all of them. */
  mayClaim(namespace: string, entity: string): boolean {
    return this.#entities.get(namespace)?.has(entity) ?? true
  }
}

export const tenantsSetting = { TRAINYARD_TENANTS: Type.String({ default: '[]' }) }

const schema = Type.Array(
  Type.Object({ namespace: Type.String({ minLength: 1 }), entities: Type.Array(Type.String({ minLength: 1 })) }),
)

/** The namespaces of tenants. @throws {ConfigError} */
export function readTenants(text: string): Tenant[] {
  try {
    const tenants: unknown = JSON.parse(text)
    if (Value.Check(schema, tenants)) return tenants
  } catch {
    // The error below is for this case too.
  }
  throw new ConfigError('bad configuration: TRAINYARD_TENANTS must be a list of objects with namespace and entities')
}
