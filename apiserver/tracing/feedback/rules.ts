import { badRequest } from '../errors.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import { findMember } from '../../../lib/json/find-member.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { parseRef, type Ref } from '../refs/parse-ref.ts'
import type { WireFeedback } from './schema.ts'

const reaction = 'wandb.reaction.1'
const note = 'wandb.note.1'
const annotation = 'wandb.annotation'
const runnable = 'wandb.runnable'

const maxNoteLength = 1_024
// An emoji of several characters is one match.
const anEmoji = /\p{RGI_Emoji}|\p{Extended_Pictographic}/gv
const maxPayloadBytes = 1024 * 1024
// Both are in indexes, whose entries may have about 2,700 bytes.
const maxRefBytes = 2_000
const maxTypeBytes = 500
// They do not count as stored bytes. A payload does.
const shortTexts = ['weave_ref', 'creator', 'annotation_ref', 'runnable_ref', 'call_ref', 'trigger_ref'] as const

/** Feedback that has passed the rules of its type. */
export interface CheckedFeedback {
  /** JSON text. */
  payload: string
  /** A value that must match the specification behind a reference. */
  annotation?: { ref: string; value: string }
}

/** Checks feedback by the rules of its type. @throws {HttpError} 400 for a broken rule */
export function checkFeedback(wire: WireFeedback, projectId: string): CheckedFeedback {
  for (const name of shortTexts) {
    if (Buffer.byteLength(wire[name] ?? '') > maxRefBytes) throw badRequest(`Invalid ${name}: it is too long`)
  }
  if (Buffer.byteLength(wire.feedback_type) > maxTypeBytes) throw badRequest('Invalid feedback_type: it is too long')
  if (wire.payload.size > maxPayloadBytes) throw badRequest('Feedback payload too large')
  checkRefs(wire, projectId)
  return checkPayload(wire)
}

function checkRefs(wire: WireFeedback, projectId: string): void {
  const type = wire.feedback_type
  if (type.startsWith(annotation)) checkAnnotationRef(wire, projectId)
  else if (wire.annotation_ref) throw notAllowed('annotation_ref', 'annotation')
  else if (type.startsWith(runnable)) checkRunnableRef(wire)
  else if (wire.runnable_ref) throw notAllowed('runnable_ref', 'runnable')
  else if (wire.call_ref) throw notAllowed('call_ref', 'runnable')
  else if (wire.trigger_ref) throw notAllowed('trigger_ref', 'runnable')
  if (wire.runnable_ref) expectRef('runnable_ref', wire.runnable_ref, ['op', 'object'])
  if (wire.call_ref) expectRef('call_ref', wire.call_ref, ['call'])
  if (wire.trigger_ref) expectRef('trigger_ref', wire.trigger_ref, ['object'])
}

function checkAnnotationRef(wire: WireFeedback, projectId: string): void {
  const name = readSubtype(wire.feedback_type, annotation)
  if (!wire.annotation_ref) throw badRequest('annotation_ref is required for annotation feedback')
  const ref = expectRef('annotation_ref', wire.annotation_ref, ['object'])
  if (!('name' in ref) || ref.name !== name) {
    throw badRequest(`annotation_ref must point to an object with name ${name}`)
  }
  if (ref.projectId !== projectId) throw badRequest(`annotation_ref must be of the project ${projectId}`)
}

function checkRunnableRef(wire: WireFeedback): void {
  const name = readSubtype(wire.feedback_type, runnable)
  if (!wire.runnable_ref) throw badRequest('runnable_ref is required for runnable feedback')
  const ref = expectRef('runnable_ref', wire.runnable_ref, ['op', 'object'])
  if (!('name' in ref) || ref.name !== name) {
    throw badRequest(`runnable_ref must point to an object with name ${name}`)
  }
  if (ref.kind === 'op' && !wire.call_ref) throw badRequest('call_ref is required for runnable feedback on ops')
}

/** The part of a type after its prefix. */
function readSubtype(type: string, prefix: string): string {
  if (type.startsWith(`${prefix}.`)) return type.slice(prefix.length + 1)
  throw badRequest(`Invalid feedback type: ${type}`)
}

function expectRef(name: string, uri: string, kinds: Ref['kind'][]): Ref {
  const ref = parseRef(uri)
  if (kinds.includes(ref.kind)) return ref
  throw badRequest(`Invalid ${name}: it must be of kind ${kinds.join(' or ')}`)
}

function notAllowed(name: string, kind: string) {
  return badRequest(`${name} is not allowed for non-${kind} feedback`)
}

function checkPayload({ feedback_type: type, payload, annotation_ref: ref }: WireFeedback): CheckedFeedback {
  if (type === reaction) checkReaction(findMember(payload.bytes, 'emoji'))
  if (type === note) checkNote(findMember(payload.bytes, 'note'))
  if (type.startsWith(runnable)) takeMember(payload, 'output', type)
  if (!type.startsWith(annotation)) return { payload: payload.toString() }
  const value = takeMember(payload, 'value', type).toString()
  return { payload: payload.toString(), annotation: { ref: ref!, value } }
}

function checkReaction(member: JsonText | undefined): void {
  if (member?.first !== '"') throw wrongPayload(reaction, 'emoji should be a valid string')
  if (String(parseText(member.toString())).match(anEmoji)?.length !== 1) {
    throw badRequest('Value of emoji key in payload must be exactly one emoji')
  }
}

function checkNote(member: JsonText | undefined): void {
  if (member?.first !== '"') throw wrongPayload(note, 'note should be a valid string')
  const length = Array.from(String(parseText(member.toString()))).length
  if (length === 0) throw wrongPayload(note, 'note should have at least 1 character')
  if (length > maxNoteLength) throw wrongPayload(note, `note should have at most ${maxNoteLength} characters`)
}

function takeMember(payload: JsonText, name: string, type: string): JsonText {
  const value = findMember(payload.bytes, name)
  if (value === undefined) throw wrongPayload(type, `${name} is required`)
  return value
}

function wrongPayload(type: string, why: string) {
  return badRequest(`Invalid payload for feedback_type ${type}: ${why}`)
}
