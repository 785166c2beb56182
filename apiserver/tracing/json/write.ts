import { cleanJson } from './clean.ts'
import { JsonText } from './text.ts'

/** A value of ours as a text that can be stored. */
export function writeJsonText(value: unknown): JsonText {
  return new JsonText(cleanJson(Buffer.from(JSON.stringify(value))))
}
