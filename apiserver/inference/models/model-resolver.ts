import type { Pool } from '../../../db/pool.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { LeasedCache, type Lease, type Loaded } from '../../../lib/leased-cache.ts'
import { parseModelAddress } from './model-address.ts'
import { resolveModel, type ChatTarget } from './resolve-model.ts'

// Each takes less than a kilobyte.
const maxKept = 10_000
// The longest address of a model is shorter. Longer names are not cached.
const maxNameLength = 600

/** What a name resolves to: a target, or the error if there is none. */
type Resolution = { target: ChatTarget; error?: undefined } | { target?: undefined; error: HttpError }

/** Finds the target of a model name, usually from memory. */
export class ModelResolver {
  readonly #pool: Pool
  /** The cache, which drops entries when they change. */
  readonly known: LeasedCache<Resolution>

  constructor({ pool, lease }: { pool: Pool; lease: Lease }) {
    this.#pool = pool
    this.known = new LeasedCache(lease, maxKept)
  }

  /** Returns the target of a name if it is in memory and current. */
  peek(entity: string, requested: string | undefined): ChatTarget | undefined {
    return this.known.peek(keyOf(entity, requested))?.target
  }

  /**
   * Finds the target of the model name in an entity's request.
   *
   * @throws {HttpError} 404 for a model or a step that does not exist or belongs to another entity
   */
  async resolve(entity: string, requested: string | undefined): Promise<ChatTarget> {
    if (requested !== undefined && requested.length > maxNameLength) return resolveModel(this.#pool, entity, requested)
    const { target, error } = await this.known.get(keyOf(entity, requested), () => this.#load(entity, requested))
    if (target) return target
    throw error
  }

  async #load(entity: string, requested: string | undefined): Promise<Loaded<Resolution>> {
    const tags = listTags(entity, requested)
    try {
      return {
        value: { target: Object.freeze(await resolveModel(this.#pool, entity, requested)) },
        owner: entity,
        tags,
      }
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      // Names without a model have their own owner, so that they replace only each other in the cache.
      return { value: { error }, owner: `${entity}?`, tags }
    }
  }
}

/** The tags of everything that the meaning of a name depends on. */
function listTags(entity: string, requested: string | undefined): string[] {
  const tags = ['base-models', `entity:${entity}`]
  const address = requested === undefined ? undefined : parseModelAddress(requested)
  if (address) tags.push(`model:${address.entity}/${address.project}/${address.name}`)
  return tags
}

function keyOf(entity: string, requested = ''): string {
  return `${entity.length} ${entity} ${requested}`
}
