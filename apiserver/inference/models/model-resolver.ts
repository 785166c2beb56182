import type { Pool } from '../../../db/pool.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { LeasedCache, type Lease, type Loaded } from '../../../lib/leased-cache.ts'
import { parseModelAddress } from './model-address.ts'
import { resolveModel, type ChatTarget } from './resolve-model.ts'

// Each takes less than a kilobyte.
const maxKept = 10_000
// The longest address of a model is shorter. Other names are looked up each time.
const maxNameLength = 600

/** What a name stands for: what answers, or why nothing does. */
type Resolution = { target: ChatTarget; error?: undefined } | { target?: undefined; error: HttpError }

/** Says what answers for a model name, mostly from memory. */
export class ModelResolver {
  readonly #pool: Pool
  /** Drops what has changed. */
  readonly known: LeasedCache<Resolution>

  constructor({ pool, lease }: { pool: Pool; lease: Lease }) {
    this.#pool = pool
    this.known = new LeasedCache(lease, maxKept)
  }

  /** What answers for a name, if that is in memory and true. */
  peek(entity: string, requested: string | undefined): ChatTarget | undefined {
    return this.known.peek(keyOf(entity, requested))?.target
  }

  /**
   * What answers for a name that an entity's request gave as its model.
   *
   * @throws {HttpError} 404 for a model, or a step of one, that does not exist or belongs to another entity
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
      // Names that stand for nothing push out only each other.
      return { value: { error }, owner: `${entity}?`, tags }
    }
  }
}

/** What the meaning of a name depends on. */
function listTags(entity: string, requested: string | undefined): string[] {
  const tags = ['base-models', `entity:${entity}`]
  const address = requested === undefined ? undefined : parseModelAddress(requested)
  if (address) tags.push(`model:${address.entity}/${address.project}/${address.name}`)
  return tags
}

function keyOf(entity: string, requested = ''): string {
  return `${entity.length} ${entity} ${requested}`
}
