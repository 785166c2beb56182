import { HttpError } from '../../../lib/http/http-error.ts'
import { badRequest } from '../errors.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { rawObject, rawText } from '../../../lib/json/raw.ts'
import type { ChatReply } from '../../inference/chat.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import { cleanJson } from '../../../lib/json/clean.ts'
import { readJson } from '../../../lib/json/read-json.ts'
import { JsonText, writeJsonText } from '../../../lib/json/json-text.ts'
import { clientDisconnected, type AskEngine, type Completion } from './chat.ts'
import { readReply } from '../../inference/reply/reply-texts.ts'
import type { Outcome } from './tracked-call.ts'

type Whole = Outcome & { output: JsonText }

/** Returns the whole reply of an engine, or the error in `response.error`, where clients look for it. */
export async function createCompletion(completion: Completion, ask: AskEngine | HttpError): Promise<string> {
  const { tracked } = completion
  if (ask instanceof HttpError) return presentAnswer(writeFailure(`Failed to resolve prompt: ${ask.message}`), null)
  const whole = await askWhole(completion, ask)
  await tracked?.end(whole)
  return presentAnswer(whole, tracked?.id ?? null)
}

async function askWhole(completion: Completion, ask: AskEngine): Promise<Whole> {
  try {
    return await readWhole(await ask())
  } catch (error) {
    if (completion.client.hasLeft) await completion.tracked?.end({ output: null, exception: clientDisconnected })
    else if (error instanceof HttpError) return writeFailure(error.message)
    throw error
  }
}

async function readWhole(reply: ChatReply): Promise<Whole> {
  for await (const text of readReply(reply)) {
    const bytes = cleanJson(Buffer.from(text))
    const usage = readUsage(bytes)
    return { output: new JsonText(bytes), usage }
  }
  throw badRequest('The engine did not respond.')
}

function readUsage(bytes: Buffer): unknown {
  try {
    const reply = readJson(bytes, ['choices'])
    return isObject(reply) && isObject(reply['usage']) ? reply['usage'] : undefined
  } catch (error) {
    throw error instanceof JsonError ? badRequest('The answer of the engine is not JSON.') : error
  }
}

function writeFailure(error: string): Whole {
  return { output: writeJsonText({ error }), exception: error }
}

function presentAnswer({ output }: Whole, callId: string | null): string {
  return rawObject({ response: rawText(output.toString()), weave_call_id: callId })
}
