import type { BaseModel } from '../../../crds/generated.ts'
import { labelValue } from '../../../crds/model-labels.ts'
import { labels, madeFromDefaults } from '../../../crds/names.ts'
import type { TrainedOn } from '../../../crds/trained-on.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { HttpError, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import type { Logger } from '../../../lib/log.ts'
import type { BaseModelRow } from '../../../db/base-models/base-models.ts'
import { withCreationLock } from '../../../db/base-models/creation-lock.ts'
import { findTrainedOn } from '../../../db/base-models/sources.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../../accounts/context.ts'
import type { Admission } from '../../accounts/limits/admission.ts'
import { permitLimits, pointLimits } from '../../accounts/limits/table.ts'
import { MinutePoints } from '../../accounts/limits/minute-points.ts'
import { errors } from '../../errors/table.ts'
import type { Kube } from '../../kube.ts'
import { isAllowed, type BaseModelDefaults } from './defaults.ts'
import type { ModelHub } from './hub.ts'
import { buildBaseModel, nameResource } from './resource.ts'

/** What making base models needs. */
export interface BaseModelCreatorDeps {
  admission: Admission
  kube: Kube
  log: Logger
  pool: Pool
  namespace: string
  hub: Pick<ModelHub, 'resolveRevision'>
  defaults: BaseModelDefaults
}

/** The name of a base model and of its resource. */
export type CreatedBaseModel = Pick<BaseModelRow, 'name' | 'crName'>

const { retryAfterSeconds } = permitLimits.base_model_creations
const { perMinute: namesPerMinute } = pointLimits.base_model_names

/** Makes base models that the administrator allows, when somebody creates a model from them. */
export class BaseModelCreator {
  readonly #deps: BaseModelCreatorDeps
  readonly #names: MinutePoints

  constructor(deps: BaseModelCreatorDeps) {
    this.#deps = deps
    this.#names = new MinutePoints(deps.pool, 'base_model_names')
  }

  /** The patterns of names that are made. */
  get patterns(): readonly string[] {
    return this.#deps.defaults.allow
  }

  /**
   * Makes the base model of this name. Returns undefined if no pattern allows it. Concurrent calls, also in other
   * processes, make it once.
   *
   * @throws {HttpError} 422 if there are too many or the hub does not have it, 429 after too many names in a minute, 503
   * if the hub or Kubernetes cannot be used
   */
  async make(name: string, caller: Caller): Promise<CreatedBaseModel | undefined> {
    if (!isAllowed(name, this.patterns)) return undefined
    return this.#deps.admission.run('base_model_creations', () => this.#make(name, caller.entity))
  }

  async #make(name: string, entity: string): Promise<CreatedBaseModel> {
    const { pool, namespace } = this.#deps
    const known = await this.#findMade(name, entity)
    if (known) return known
    const earlier = await findTrainedOn(pool, name)
    const revision = earlier ? requireRevision(name, earlier) : await this.#askHub(name, entity)
    const wanted = { name, namespace, entity, revision, lora: earlier?.lora }
    return withCreationLock(pool, async () => {
      const made = await this.#findMade(name, entity)
      return made ?? this.#create(name, buildBaseModel(wanted, this.#deps.defaults))
    })
  }

  /** Finds it among the base models that were made. @throws {HttpError} 422 if it is missing and there is no room */
  async #findMade(name: string, entity: string): Promise<CreatedBaseModel | undefined> {
    const made = await this.#list().catch((error: unknown) => {
      throw notMade(name, 'Kubernetes does not answer', error)
    })
    if (made.some(({ spec }) => spec.names[0] === name)) return { name, crName: nameResource(name) }
    const { maximum, maximumPerEntity } = this.#deps.defaults
    const own = made.filter(({ metadata }) => metadata.labels?.[labels.entity] === labelValue(entity))
    if (made.length >= maximum) throw rejectName(name, `all ${maximum} that the administrator allows are there`)
    if (own.length >= maximumPerEntity)
      throw rejectName(name, `this entity has all ${maximumPerEntity} that it may have`)
    return undefined
  }

  async #askHub(name: string, entity: string): Promise<string> {
    await this.#names.take(entity, namesPerMinute, 1)
    return this.#deps.hub.resolveRevision(name)
  }

  #list(): Promise<BaseModel[]> {
    return this.#deps.kube.listBaseModels(`${labels.madeFrom}=${madeFromDefaults}`)
  }

  async #create(name: string, resource: BaseModel): Promise<CreatedBaseModel> {
    const { kube, log } = this.#deps
    const isNew = await kube.createResource('BaseModel', resource).catch((error: unknown) => {
      log.error({ error, baseModel: name }, 'a base model cannot be made from the defaults of the chart')
      throw notMade(name, 'Kubernetes refuses it, and the log of the apiserver says why', error)
    })
    const crName = resource.metadata.name ?? ''
    if (!isNew) throw notMade(name, `another BaseModel has its resource name ${crName}`)
    log.info({ baseModel: name, crName }, 'base model made from the defaults of the chart')
    return { name, crName }
  }
}

/** The revision of an earlier base model of this name: the adapters of its models fit only these weights. */
function requireRevision(name: string, { source: { hub } }: TrainedOn): string {
  if (isObject(hub) && hub['id'] === name && typeof hub['revision'] === 'string') return hub['revision']
  throw rejectName(name, 'an earlier base model of this name had weights from elsewhere')
}

function rejectName(name: string, reason: string): HttpError {
  const sentence = `there is no base model ${name}, and none is made: ${reason}. An administrator can add it`
  return unprocessable(valueError(['body', 'base_model'], sentence))
}

function notMade(name: string, reason: string, cause?: unknown): HttpError {
  const sentence = `The base model ${name} is not made: ${reason}. Send this request again later.`
  return new HttpError(errors.base_model_not_made, sentence, { retryAfterSeconds, cause })
}
