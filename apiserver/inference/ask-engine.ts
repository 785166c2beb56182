import type { UsageAccount } from '../../db/accounts/chat-usage.ts'
import type { ClientWatch } from '../../lib/http/client-watch.ts'
import type { Logger } from '../../lib/log.ts'
import { currentTurn } from '../../lib/request-scope.ts'
import type { Caller } from '../accounts/context.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import type { TokenLimiter } from '../accounts/limits/token-limiter.ts'
import type { UsageLedger } from '../accounts/usage/ledger.ts'
import type { EngineClient, EngineRequest } from './engines/engine-client.ts'
import { translateEngineError } from './engines/engine-errors.ts'
import { readErrorBody } from './engines/read-engine.ts'
import type { EngineResponse } from './engines/transport.ts'
import type { ModelUses } from './models/model-uses.ts'
import type { ChatTarget } from './models/resolve-model.ts'
import type { PreparedRequest } from './prepare-request.ts'
import { ChatMeter } from './reply/chat-meter.ts'
import type { EngineReply } from './reply/engine-reply.ts'
import { renameInText, type ModelNames } from './reply/rename-model.ts'

/** What requests to engines need. */
export interface AskDeps {
  engines: EngineClient
  modelUses: ModelUses
  log: Logger
  usage: UsageLedger
  tokenLimiter: TokenLimiter
}

/** The request that an engine is called for. */
export interface EngineCall {
  caller: Caller
  /** The project that the client wants to charge. Undefined for the model's own project. */
  project: string | undefined
  /** The memory that the request has reserved. The reply counts as part of it. */
  memory: RequestReservation
  client: ClientWatch
}

/**
 * Sends a request to an engine. Resolves when the reply has begun. Reserves the tokens that the request is expected to
 * use before it is sent, and charges the usage when the client's answer is over.
 *
 * @throws {HttpError} for an error of the engine, if no engine answers, and 429 at the entity's limit of tokens
 */
export async function askEngine(deps: AskDeps, call: EngineCall, request: PreparedRequest): Promise<EngineReply> {
  const settle = await deps.tokenLimiter.reserve(call.caller, request.estimate)
  try {
    deps.modelUses.record(request.target)
    const response = await deps.engines.post(describeEngineRequest(call, request))
    request.body.letGo()
    if (response.statusCode !== 200) throw await readEngineError(deps.log, response, request.target)
    return openReply({ deps, call, request, settle }, response)
  } catch (error) {
    settle(0)
    throw error
  }
}

function describeEngineRequest({ client }: EngineCall, request: PreparedRequest): EngineRequest {
  const { path, target, body, affinity, sequences } = request
  const { baseModelCrName } = target
  return { baseModelCrName, turn: currentTurn(), adapter: adapterOf(target), affinity, sequences, path, body, client }
}

/** A request that an engine has begun to answer. */
interface Answered {
  deps: AskDeps
  call: EngineCall
  request: PreparedRequest
  settle: (usedTokens: number) => void
}

function openReply({ deps, call, request, settle }: Answered, response: EngineResponse): EngineReply {
  const { target, estimate } = request
  const { memory, client, project = target.charged.project } = call
  const meter = new ChatMeter(request.hidesUsage)
  client.whenOver(() => {
    deps.usage.add(accountOf(call, target), meter.tokens)
    // A reply that was cut off has no count of its prompt, although the engine has read the prompt.
    settle((meter.tokens.promptTokens || estimate.promptTokens) + meter.tokens.completionTokens)
  })
  return { response, meter, project, memory, names: target }
}

/** The checkpoint that the engine must use. Undefined for the base model itself. */
function adapterOf({ engineName, charged }: ChatTarget): string | undefined {
  return engineName === charged.baseModel ? undefined : engineName
}

function accountOf({ caller: { entity, keyId }, project }: EngineCall, { charged }: ChatTarget): UsageAccount {
  return { ...charged, entity, keyId, project: project ?? charged.project }
}

async function readEngineError(log: Logger, response: EngineResponse, names: ModelNames) {
  const body = await readErrorBody(response)
  const error = translateEngineError(response.statusCode, renameInText(body, names))
  if (error.status >= 500) {
    const answer = Buffer.from(body.subarray(0, 2_000)).toString()
    log.error({ status: response.statusCode, answer }, 'engine failed to answer')
  }
  return error
}
